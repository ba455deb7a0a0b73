/**
 * The last part of some runs: the disks of a majority are lost for good, and an operator begins a
 * new ensemble with what is left, by what `rookery recover` does.
 *
 * First the survivors and the members on empty disks run together, and nobody may serve: those have
 * no vote. Then the survivor with the newest log becomes the state of all members. What may be lost
 * is what no survivor has logged, and sessions with their ephemerals. Nothing else is: the state is
 * compared with the history that leads to it, which was recorded as members logged it. Checkers
 * know nothing of such a loss, so none is told of anything from then on. The run calls this.
 */
import { formatZxid, type PeerId, type Zxid } from '@rookery/protocol';
import {
  exportedNodes,
  IGNORE_CHANGES,
  newestSurvivor,
  ReplicatedState,
  readStores,
  recoveryPlan,
  restoreStores,
  type StoppedMember,
  txnOf,
} from '../../simulated.js';
import type { Checker } from '../contract/checker.js';
import type { Applied, DiskStruck, Started, Step } from '../contract/observation.js';
import type { Random } from '../random.js';
import type { SimulatedWorld } from '../world/index.js';
import type { Failure } from './verdict.js';

export const LOSES = 'a recovery loses only what no survivor has logged, and sessions';
export const NOBODY_SERVES = 'nobody serves while a majority has no vote';

interface Logged {
  readonly previous: Zxid;
  readonly body: Uint8Array;
}

/** Everything that any member has logged, and what each has applied. */
export class LoggedHistory implements Checker {
  readonly property = 'what members log is recorded';
  readonly #logged = new Map<Zxid, Logged>();
  readonly #appliedBy = new Map<PeerId, Zxid>();

  onStep({ outputs }: Step): void {
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind !== 'append') continue;
      for (const { zxid, previous, body } of output.batch) {
        if (!this.#logged.has(zxid)) this.#logged.set(zxid, { previous, body: body.slice() });
      }
    }
  }

  onApplied({ member, zxid }: Applied): void {
    this.#appliedBy.set(member, Math.max(zxid, this.appliedBy(member)));
  }

  onStarted({ member, recovered }: Started): void {
    this.#appliedBy.set(member, Math.max(recovered.checkpointZxid, this.appliedBy(member)));
  }

  /** What it lost with its disk it may have again once it has applied it again. */
  onDiskStruck({ member, how }: DiskStruck): void {
    if (how !== 'decayed') this.#appliedBy.delete(member);
  }

  /** The last zxid that this member has applied, since its disk was struck. */
  appliedBy(member: PeerId): Zxid {
    return this.#appliedBy.get(member) ?? 0;
  }

  /** The state that the history up to this zxid leads to; null if it is not known. */
  stateAt(last: Zxid): ReplicatedState | null {
    const chain: (readonly [Zxid, Logged])[] = [];
    for (let zxid = last; zxid > 0; ) {
      const logged = this.#logged.get(zxid);
      if (logged === undefined) return null;
      chain.push([zxid, logged]);
      zxid = logged.previous;
    }
    const state = new ReplicatedState();
    for (const [zxid, logged] of chain.reverse()) {
      state.apply(zxid, txnOf(logged), IGNORE_CHANGES);
    }
    return state;
  }
}

/** A majority whose disks are lost, so that only sound ones are left; null where none would be. */
export function drawLost(world: SimulatedWorld, random: Random): readonly PeerId[] | null {
  const { ids, struck } = world;
  const sound = ids.filter((id) => !struck.has(id));
  const most = Math.min(Math.floor(ids.length / 2), sound.length);
  if (most < 1) return null;
  const count = 1 + random.below(most);
  const kept = Array.from({ length: count }, () => sound.splice(random.below(sound.length), 1));
  const survivors = new Set(kept.flat());
  return ids.filter((id) => !survivors.has(id));
}

/** All members are down; those that are lost have empty disks. Null if it went as promised. */
export async function recover(
  world: SimulatedWorld,
  lost: readonly PeerId[],
  history: LoggedHistory,
): Promise<Failure | null> {
  const survivors = world.ids.filter((id) => !lost.includes(id));
  const read: StoppedMember[] = [];
  for (const id of survivors) {
    read.push(await world.offline([id], (storesOf) => readStores(storesOf(id), id)));
  }
  const newest = newestSurvivor(read);
  if (newest === null) return { property: LOSES, message: 'no member survives' };
  const at = newest.state.lastZxid;
  for (const id of survivors) {
    const applied = history.appliedBy(id);
    if (applied <= at) continue;
    const message = `member ${id} has applied ${formatZxid(applied)}; the end is ${formatZxid(at)}`;
    return { property: LOSES, message };
  }
  const expected = history.stateAt(at);
  const plan = recoveryPlan(newest);
  for (const id of world.ids) world.wipe(id);
  await world.offline(world.ids, (open) => {
    const storesOf = (id: number) => Promise.resolve(open(id));
    return restoreStores({ ids: world.ids, ensembleId: 'recovered', plan, storesOf });
  });
  for (const id of world.ids) {
    const { state } = await world.offline([id], (storesOf) => readStores(storesOf(id), id));
    const message = expected === null ? null : difference(expected, state);
    if (message !== null) return { property: LOSES, message: `member ${id}: ${message}` };
  }
  return null;
}

/** Null if the second has all of the first but its sessions, and nothing more. */
function difference(before: ReplicatedState, after: ReplicatedState): string | null {
  const [wanted, found] = [textsOf(before), textsOf(after)];
  for (const [path, text] of wanted) {
    if (found.get(path) !== text) return `${path} was ${text}, and is ${found.get(path) ?? 'gone'}`;
  }
  const more = [...found.keys()].find((path) => !wanted.has(path));
  if (more !== undefined) return `${more} was never there`;
  return after.sessions.count === 0 ? null : `${after.sessions.count} sessions are left`;
}

function textsOf(state: ReplicatedState): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const node of exportedNodes(state)) {
    // What is below a quota is measured anew.
    if (isOfSession(node.ephemeralOwner) || node.path.startsWith('/zookeeper/')) continue;
    const { data, ...rest } = node;
    const text = data === null ? 'no data' : Buffer.from(data).toString('hex');
    const facts = Object.entries(rest).map(([name, value]) => `${name} ${textOf(value)}`);
    texts.set(node.path, `${text} ${facts.join(' ')}`);
  }
  return texts;
}

function textOf(value: unknown): string {
  return typeof value === 'bigint' ? `${value}` : JSON.stringify(value);
}

/** The owners of containers and of znodes with a TTL have their highest bit set. */
function isOfSession(owner: bigint): boolean {
  return owner > 0n;
}
