/**
 * A checkpoint that is taken while transactions continue, as a member takes it: the state is frozen
 * after some of them and written record by record while others follow; and the result of a restart
 * from it.
 *
 * ZooKeeper's snapshots were fuzzy: they contained each znode as it was when the snapshot reached
 * it, and the transactions since the snapshot's beginning were replayed over that. Here a
 * checkpoint is exact at one zxid, which is what the tests of those bugs assert.
 * exact-checkpoints.test.ts uses it.
 */
import { makeZxid, type Zxid } from '@rookery/protocol';
import { type CheckpointRecord, IGNORE_CHANGES, ReplicatedState, type Txn } from '../simulated.js';

/** Small, so that a block contains few records. */
const BLOCK_BYTES = 500;

/** The request for a transaction; its zxid is its position in the list. */
export type Step = Pick<Txn, 'session' | 'op'>;

export function zxidAt(index: number): Zxid {
  return makeZxid(1, index + 1);
}

export function applyStep(state: ReplicatedState, step: Step, index: number): void {
  const txn = { origin: 1, request: index, time: 1000 + index, ...step };
  state.apply(zxidAt(index), txn, IGNORE_CHANGES);
}

export interface Captured {
  /** The state that was never interrupted, after all steps. */
  readonly live: ReplicatedState;
  /** The digest at the freeze. */
  readonly digest: string;
  readonly zxid: Zxid;
  readonly lastTime: number;
  /** By key: what is on disk after the checkpoint. */
  readonly records: ReadonlyMap<string, CheckpointRecord>;
}

/** Freezes the state after `frozenAfter` steps; after each further step one record is written. */
export function captureDuring(steps: readonly Step[], frozenAfter: number): Captured {
  const live = new ReplicatedState();
  for (const [index, step] of steps.slice(0, frozenAfter).entries()) applyStep(live, step, index);
  const { digest, zxid, lastTime } = live.freeze(BLOCK_BYTES);
  const records = new Map<string, CheckpointRecord>();
  const take = (count: number) => {
    for (const record of live.captureSome(count, 1 << 20)) {
      records.set(Buffer.from(record.key).toString('latin1'), record);
    }
  };
  for (const [index, step] of steps.entries()) {
    if (index < frozenAfter) continue;
    applyStep(live, step, index);
    take(1);
  }
  while (!live.captureDone) take(100);
  return { live, digest, zxid, lastTime, records };
}

/** The state as a restart loads it, before anything of the log is replayed. */
export function loaded({ records, zxid, lastTime }: Captured): ReplicatedState {
  const state = new ReplicatedState();
  for (const name of [...records.keys()].sort()) {
    const record = records.get(name);
    if (record?.value) state.load(record.key, record.value);
  }
  state.finishLoad({ zxid, lastTime });
  return state;
}

/** Everything that a client can see of a znode, by path. */
export function visible({ tree }: ReplicatedState): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  const visit = (path: string) => {
    const node = tree.find(path);
    const data = tree.data(node);
    all[path] = { stat: tree.stat(node), acl: tree.acl(node), data: data && [...data] };
    for (const name of tree.children(node)) visit(path === '/' ? `/${name}` : `${path}/${name}`);
  };
  visit('/');
  return all;
}
