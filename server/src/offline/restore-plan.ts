/**
 * Checks the znodes of a ZooKeeper or of a backup one by one, and makes the state for the members
 * from them.
 *
 * Sessions do not survive, so their ephemerals are dropped. The data of /zookeeper/config is each
 * member's own. What Rookery cannot hold is an OperatorError that names the znode, before anything
 * is written.
 */
import { EPOCH_MAX, epochOf, makeZxid, validatePath, type Zxid } from '@rookery/protocol';
import { OperatorError } from '../config/operator-error.js';
import { LEVEL_MAX } from '../state/level.js';
import { ReplicatedState } from '../state/replicated-state.js';
import type { RestoredZnode } from '../state/tree.js';
import { OPEN_LIST, ownerKind, type SnapshotNode, ttlMsOf } from '../zookeeper-files/index.js';
import { exportedNodes } from './exported-nodes.js';
import type { StateHolder } from './snapshot-output.js';

export interface RestorePlan {
  /** The state at `zxid`, of which no checkpoint has been captured. */
  readonly state: ReplicatedState;
  readonly zxid: Zxid;
  readonly counts: RestoreCounts;
  /** The number of znodes whose ACL names a scheme, by scheme. */
  readonly schemes: ReadonlyMap<string, number>;
}

interface RestoreCounts {
  readonly znodes: number;
  readonly dataBytes: number;
  readonly containers: number;
  readonly ttlZnodes: number;
  /** Ephemeral znodes that were dropped. */
  readonly ephemerals: number;
  /** Znodes whose ACL list the source does not have: they are open to everybody now. */
  readonly withoutAcl: number;
}

/** Epochs between the last one of the source and the first one of the restored ensemble. */
const EPOCH_BUMP = 1000;

export class RestorePlanner {
  readonly #state = new ReplicatedState();
  readonly #counts = {
    znodes: 0,
    dataBytes: 0,
    containers: 0,
    ttlZnodes: 0,
    ephemerals: 0,
    withoutAcl: 0,
  };
  readonly #schemes = new Map<string, number>();
  #lastTime = 0;

  /** Parents come before children. Throws OperatorError. */
  add(node: SnapshotNode): void {
    const counts = this.#counts;
    const kind = ownerKind(node.ephemeralOwner);
    if (kind === 'session') {
      counts.ephemerals += 1;
      return;
    }
    const path = node.path === '' ? '/' : node.path;
    requirePath(path);
    counts.znodes += 1;
    counts.dataBytes += node.data?.length ?? 0;
    if (kind === 'container') counts.containers += 1;
    if (kind === 'ttl') counts.ttlZnodes += 1;
    if (node.acl === null) counts.withoutAcl += 1;
    const acl = node.acl ?? OPEN_LIST;
    this.#countSchemes(acl);
    const stat = statOf(path, node);
    this.#lastTime = Math.max(this.#lastTime, stat.mtime, stat.ctime);
    const ttlMs = kind === 'ttl' ? Number(ttlMsOf(node.ephemeralOwner)) : 0;
    const mode = kind === 'none' ? 'persistent' : kind;
    this.#state.restore({ path, data: node.data, acl, mode, ttlMs, stat });
  }

  /** After the last znode; once. `lastZxid` is that of the source. Throws OperatorError. */
  plan(lastZxid: bigint): RestorePlan {
    const zxid = restoredZxid(lastZxid);
    const state = this.#state;
    state.finishRestore({ zxid, lastTime: this.#lastTime, level: LEVEL_MAX });
    return { state, zxid, counts: this.#counts, schemes: this.#schemes };
  }

  #countSchemes(acl: RestoredZnode['acl']): void {
    for (const scheme of new Set(acl.map((entry) => entry.scheme))) {
      this.#schemes.set(scheme, (this.#schemes.get(scheme) ?? 0) + 1);
    }
  }
}

/** The first zxid of an epoch that no client of the source has seen anything of. */
function restoredZxid(lastZxid: bigint): Zxid {
  const epoch = epochOf(safe('the source', lastZxid));
  if (epoch + EPOCH_BUMP <= EPOCH_MAX) return makeZxid(epoch + EPOCH_BUMP, 0);
  throw new OperatorError(
    `the epoch of the last zxid is ${epoch}; up to ${EPOCH_MAX - EPOCH_BUMP} can be restored`,
  );
}

function requirePath(path: string): void {
  const problem = validatePath(path);
  if (problem === null) return;
  throw new OperatorError(`the path ${JSON.stringify(path)} cannot be restored: ${problem}`);
}

function statOf(path: string, node: SnapshotNode): RestoredZnode['stat'] {
  return {
    version: node.version,
    // ZooKeeper's snapshots store this number under the name of what clients see.
    creates: node.cversion,
    aversion: node.aversion,
    czxid: safe(path, node.czxid),
    mzxid: safe(path, node.mzxid),
    pzxid: safe(path, node.pzxid),
    ctime: safe(path, node.ctime),
    mtime: safe(path, node.mtime),
  };
}

function safe(what: string, value: bigint): number {
  const number = Number(value);
  if (number >= 0 && Number.isSafeInteger(number)) return number;
  throw new OperatorError(`${what} has the zxid or time ${value}, which is not from 0 to 2^53`);
}

/**
 * Recovers the state of an ensemble that has permanently lost its majority, for a new ensemble.
 *
 * The survivor with the newest log has every committed write that any survivor has: a member logs
 * nothing of an epoch before it has the whole history of the epoch's leader. The end of its log may
 * contain writes that were never acknowledged to a client.
 *
 * Null for none.
 */
export function newestSurvivor<T extends StateHolder>(survivors: readonly T[]): T | null {
  let newest: T | null = null;
  for (const one of survivors) {
    if (newest === null || one.state.lastZxid > newest.state.lastZxid) newest = one;
  }
  return newest;
}

/** Throws OperatorError. */
export function recoveryPlan({ state }: StateHolder): RestorePlan {
  const planner = new RestorePlanner();
  for (const node of exportedNodes(state)) planner.add(node);
  return planner.plan(BigInt(state.lastZxid));
}
