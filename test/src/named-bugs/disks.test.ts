/**
 * Disk states in which ZooKeeper's servers came up wrong or not at all: snapshots that were missing
 * or empty, epochs that did not fit the history, and checkpoints that the log had left behind.
 */
import { randomBytes } from 'node:crypto';
import { makeZxid, ProposalBatch } from '@rookery/protocol';
import { expect, it } from 'vitest';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  type MemoryEnsemble,
  MemoryLogDirectory,
  MemoryStore,
  names,
  notes,
  ReplicatedState,
  Storage,
  StorageFault,
  serving,
  TINY_LOG,
  write,
} from '../simulated.js';
import { heldByEach } from './ephemerals.js';

/** The key of a tree's checkpoint record; the keys of znodes and sessions sort after it. */
const CHECKPOINT_KEY = 'c';

/** Damages of the snapshot, `tree-0`. */
const LOSSES: Readonly<Record<string, (tree: MemoryStore) => Promise<void> | void>> = {
  'it is missing': (tree) => tree.destroy('tree-0'),
  'it is empty': (tree) => tree.tamper('tree-0', (entries) => entries.clear()),
  'it has lost all its records': (tree) =>
    tree.tamper('tree-0', (entries) => {
      for (const key of [...entries.keys()]) if (key !== CHECKPOINT_KEY) entries.delete(key);
    }),
  'all bytes in it are zero': (tree) =>
    tree.tamper('tree-0', (entries) => {
      for (const [key, value] of entries) entries.set(key, new Uint8Array(value.length));
    }),
};

/** Every member has `paths` in its tree, and no longer in its log. */
async function checkpointed(size: number, paths: readonly string[]): Promise<MemoryEnsemble> {
  const ensemble = await serving({ size, tuning: TINY_LOG });
  const client = await connected(ensemble, size === 1 ? 1 : ensemble.leader);
  await write(ensemble, client, paths);
  for (let round = 0; round < 5; round++) await write(ensemble, client, names(`r${round}`, 40));
  await expectEqual(ensemble);
  return ensemble;
}

it('ZK-2325, ZK-3056, ZK-3644: a member whose snapshot is missing, empty or zeroed receives another one, and serves nothing before', async () => {
  const paths = names('kept', 5);
  for (const [how, spoil] of Object.entries(LOSSES)) {
    const ensemble = await checkpointed(3, paths);
    const id = follower(ensemble);
    ensemble.kill(id);
    await spoil(ensemble.treeOf(id));
    await ensemble.start(id);
    await everyoneServes(ensemble);
    expect(notes(ensemble, 'snapshot.installed'), how).toBe(1);
    await expectEqual(ensemble);
    expect(await heldByEach(ensemble, paths), how).toEqual([paths, paths, paths]);
  }
});

it('ZK-2325, ZK-3056: a standalone server whose snapshot is missing, empty or zeroed serves nobody', async () => {
  for (const [how, spoil] of Object.entries(LOSSES)) {
    const ensemble = await checkpointed(1, names('kept', 5));
    ensemble.kill(1);
    await spoil(ensemble.treeOf(1));
    await ensemble.start(1);
    await ensemble.timers.advance(10_000);
    expect(ensemble.serves(1), how).toBe(false);
    expect(
      ensemble.lines.some((line) => line.includes('server.damaged')),
      how,
    ).toBe(true);
  }
});

interface Course {
  readonly disk: 'tree' | 'log';
  readonly when: 'before' | 'after';
  /** The number of writes that it missed: after a few it catches up by DIFF, after many by SNAP. */
  readonly missed: number;
}

/**
 * A follower that missed some writes comes back and is killed at its n-th change of a disk, which
 * reached the disk or did not; false if it has joined with fewer changes.
 */
async function joinsAfterKillAt(at: number, { disk, when, missed }: Course): Promise<boolean> {
  const title = `${disk} change ${at}, ${when}, ${missed} writes missed`;
  const ensemble = await serving({ tuning: TINY_LOG });
  const id = follower(ensemble);
  const { leader } = ensemble;
  await write(ensemble, await connected(ensemble, leader), names('before', 5));
  ensemble.kill(id);
  await write(ensemble, await connected(ensemble, leader), names('missed', missed));
  // Another epoch with a write of its own: both epochs are recorded, with history between them.
  ensemble.kill(leader);
  await ensemble.start(leader);
  await ensemble.until(() => ensemble.leader !== 0, 'was there a leader');
  await write(ensemble, await connected(ensemble, ensemble.leader), ['/since']);
  const store = disk === 'tree' ? ensemble.treeOf(id) : ensemble.logOf(id);
  store.failAt(store.changeCount + at, when);
  let killed = false;
  try {
    await ensemble.start(id);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
    killed = true;
  }
  if (!killed) return false;
  ensemble.failures.length = 0;
  ensemble.kill(id);
  await ensemble.start(id);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
  expect(
    ensemble.lines.filter((line) => line.includes('server.damaged')),
    title,
  ).toEqual([]);
  // The member's epochs and its history fit each other: it can be elected with what it has.
  for (const other of ensemble.config.servers) if (other.id !== id) ensemble.kill(other.id);
  await ensemble.start(ensemble.config.servers.find((other) => other.id !== id)?.id ?? 0);
  await ensemble.until(() => ensemble.leader !== 0, `was a leader elected after ${title}`);
  return true;
}

it('ZK-4837: nothing that a checkpoint contains, or will contain, is ever truncated', async () => {
  const stores = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
  const open = () =>
    Storage.open({ ...stores, memberId: 1, loader: new ReplicatedState(), randomBytes });
  const { storage } = await open();
  await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  const [one, two, three] = [1, 2, 3].map((counter) => makeZxid(1, counter));
  for (const zxid of [one, two, three]) {
    if (zxid === undefined) continue;
    const proposal = { zxid, previous: storage.last, body: Buffer.from('x') };
    await storage.append([ProposalBatch.of([proposal])]);
  }
  if (one === undefined || two === undefined) throw new Error('three zxids');
  // The checkpoint is being taken: it is not on disk yet, but it will be.
  storage.beginCheckpoint(two);
  await expect(storage.truncate(one)).rejects.toThrow('would undo the checkpoint');
  await storage.truncate(two);
  const digest = new ReplicatedState().digest();
  await storage.writeCheckpoint([], { zxid: two, digest, lastTime: 0 });
  await expect(storage.truncate(one)).rejects.toThrow('would undo the checkpoint');
  expect([storage.last, storage.checkpointZxid]).toEqual([two, two]);
});

it('ZK-1653, ZK-2354, ZK-2307, ZK-4269, ZK-335, ZK-3608: a member killed at any write on its way into an epoch starts, votes and joins', async () => {
  let kills = 0;
  for (const disk of ['tree', 'log'] as const) {
    for (const when of ['before', 'after'] as const) {
      for (const missed of [5, 60]) {
        const course = { disk, when, missed };
        for (let at = 1; await joinsAfterKillAt(at, course); at++) kills += 1;
      }
    }
  }
  // Each epoch costs two changes, the DIFF one, the snapshot and its log several.
  expect(kills).toBeGreaterThan(20);
}, 60_000);
