/**
 * Judges the znodes of a ZooKeeper, or of a backup, before they become the state of members.
 *
 * Sessions do not survive, so their ephemerals are dropped. The data of /zookeeper/config is each
 * member's own. What Rookery cannot hold is an OperatorError that names the znode, before anything
 * is written.
 */
import { EPOCH_MAX, epochOf, makeZxid, validatePath, type Zxid } from '@rookery/protocol';
import { OperatorError } from '../operator-error.js';
import type { RestoredZnode } from '../state/tree.js';
import { OPEN_LIST, ownerKind, type SnapshotNode, ttlMsOf } from '../zookeeper-files/index.js';

/** What a restored state leaves out. */
export interface Dropped {
  readonly ephemerals: number;
  readonly sessions: number;
}

export interface RestorePlan {
  readonly znodes: readonly RestoredZnode[];
  readonly zxid: Zxid;
  /** ms since 1970. */
  readonly lastTime: number;
  readonly dropped: Dropped;
  /** Znodes whose ACL list the source does not have: they are open to everybody now. */
  readonly withoutAcl: number;
  /** By ACL scheme, how many znodes name it. */
  readonly schemes: ReadonlyMap<string, number>;
  readonly dataBytes: number;
  readonly containers: number;
  readonly ttlZnodes: number;
}

/** Epochs between the last one of the source and the first one of the restored ensemble. */
export const EPOCH_BUMP = 1000;

interface Source {
  /** Parents before children. */
  readonly nodes: Iterable<SnapshotNode>;
  readonly lastZxid: bigint;
  readonly sessions: number;
}

/** Throws OperatorError. */
export function restorePlanOf({ nodes, lastZxid, sessions }: Source): RestorePlan {
  const zxid = restoredZxid(lastZxid);
  const tally = { ephemerals: 0, withoutAcl: 0, dataBytes: 0, containers: 0, ttlZnodes: 0 };
  const schemes = new Map<string, number>();
  const znodes: RestoredZnode[] = [];
  let lastTime = 0;
  for (const node of nodes) {
    const kind = ownerKind(node.ephemeralOwner);
    if (kind === 'session') {
      tally.ephemerals += 1;
      continue;
    }
    const path = node.path === '' ? '/' : node.path;
    requirePath(path);
    if (node.acl === null) tally.withoutAcl += 1;
    if (kind === 'container') tally.containers += 1;
    if (kind === 'ttl') tally.ttlZnodes += 1;
    tally.dataBytes += node.data?.length ?? 0;
    const acl = node.acl ?? OPEN_LIST;
    for (const scheme of new Set(acl.map((entry) => entry.scheme))) {
      schemes.set(scheme, (schemes.get(scheme) ?? 0) + 1);
    }
    const stat = statOf(path, node);
    lastTime = Math.max(lastTime, stat.mtime, stat.ctime);
    const ttlMs = kind === 'ttl' ? Number(ttlMsOf(node.ephemeralOwner)) : 0;
    const mode = kind === 'none' ? 'persistent' : kind;
    znodes.push({ path, data: node.data, acl, mode, ttlMs, stat });
  }
  const { ephemerals, ...counts } = tally;
  const dropped = { ephemerals, sessions };
  return { znodes, zxid, lastTime, dropped, schemes, ...counts };
}

/** The first zxid of an epoch that no client of the source has seen anything of. */
function restoredZxid(lastZxid: bigint): Zxid {
  const epoch = epochOf(safe('the last zxid', lastZxid)) + EPOCH_BUMP;
  if (epoch > EPOCH_MAX) {
    throw new OperatorError(
      `the epoch of the last zxid is ${epoch - EPOCH_BUMP}; ${EPOCH_MAX - EPOCH_BUMP} is the most that can be restored`,
    );
  }
  return makeZxid(epoch, 0);
}

function requirePath(path: string): void {
  const problem = validatePath(path);
  if (problem === null) return;
  throw new OperatorError(`the path ${JSON.stringify(path)} cannot be restored: ${problem}`);
}

function statOf(path: string, node: SnapshotNode): RestoredZnode['stat'] {
  const { version, cversion, aversion } = node;
  return {
    ...{ version, cversion, aversion },
    czxid: safe(path, node.czxid),
    mzxid: safe(path, node.mzxid),
    pzxid: safe(path, node.pzxid),
    ctime: safe(path, node.ctime),
    mtime: safe(path, node.mtime),
  };
}

function safe(what: string, value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new OperatorError(`${what} has the number ${value}, which is beyond 2^53`);
}
