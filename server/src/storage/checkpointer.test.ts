/** Checkpoints and the purge behind them, while proposals keep coming. */
import type { Zxid } from '@rookery/protocol';
import { describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import {
  type Opened,
  openToy,
  proposalsAfter,
  proposalsIn,
  TINY,
} from '../simulated/storage/toy-state.js';
import { Checkpointer, type CheckpointOptions } from './checkpointer.js';

const OPTIONS: Partial<CheckpointOptions> = { dirtyCountMax: 5, sliceCount: 2, intervalMs: 1000 };

async function setUp() {
  const stores = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
  const opened = await openToy(stores);
  const epochs = { accepted: 1, current: 0, ensembleId: '', founded: false };
  await opened.storage.saveEpochs(epochs);
  const bases: Zxid[] = [];
  const hooks = {
    onPurged: (base: Zxid) => bases.push(base),
    onCheckpoint() {},
    onDamage: () => undefined,
    onDiskFull: () => undefined,
    onFatal: (error: unknown) => {
      throw error;
    },
  };
  const checkpointer = new Checkpointer(opened.storage, opened.state, hooks, OPTIONS);
  return { ...opened, ...stores, checkpointer, bases, hooks };
}

const always = () => true;

async function write({ storage, state }: Opened, counter: number): Promise<void> {
  const proposals = proposalsAfter(storage.last, { epoch: 1, counter, count: 1 });
  await storage.append([proposals]);
  for (const proposal of proposals) state.apply(proposal);
}

describe('the checkpointer', () => {
  it('keeps disk use bounded while the log grows without end', async () => {
    const all = await setUp();
    let most = 0;
    for (let counter = 1; counter <= 600; counter++) {
      await write(all, counter);
      all.checkpointer.step(0, 0, always);
      await all.checkpointer.idle();
      await all.storage.idle();
      most = Math.max(most, (await all.logFiles.list()).length);
    }
    expect(most).toBeLessThan(10);
    expect(all.bases.length).toBeGreaterThan(20);
    expect(all.bases).toEqual([...all.bases].sort((a, b) => a - b));
    expect(all.storage.base).toBe(all.bases.at(-1));
    expect(all.storage.base).toBeLessThan(all.storage.checkpointZxid);
  });

  it('keeps disk use bounded over lives too short for a checkpoint', async () => {
    const random = seededRandom(3);
    let all = await setUp();
    let most = 0;
    for (let life = 1; life <= 40; life++) {
      // One write and some turns, which is not enough of anything else that makes one due.
      await write(all, life);
      for (let step = 0; step < 9; step++) all.checkpointer.step(0, 0, always);
      await all.checkpointer.idle();
      await all.storage.idle();
      most = Math.max(most, (await all.logFiles.list()).length);
      const stores = {
        treeStore: all.treeStore.crash(random),
        logFiles: all.logFiles.crash(random),
      };
      const opened = await openToy(stores, { ...TINY, retainedBytesMin: 0 });
      expect(opened.recovered.damaged).toBe(null);
      for (const proposal of proposalsIn(opened.recovered.suffix)) opened.state.apply(proposal);
      const options = { ...OPTIONS, dirtyCountMax: 1000, intervalMs: 1_000_000 };
      const checkpointer = new Checkpointer(opened.storage, opened.state, all.hooks, options);
      all = { ...all, ...opened, ...stores, checkpointer };
    }
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThan(14);
  });

  it('ends with all that was applied in the tree, from whatever it was doing', async () => {
    for (const steps of [0, 1, 2]) {
      const all = await setUp();
      for (let counter = 1; counter <= 9; counter++) {
        await write(all, counter);
        if (counter === 7)
          for (let step = 0; step < steps; step++) all.checkpointer.step(0, 0, always);
      }
      await all.checkpointer.finish(0, always);
      expect(all.checkpointer.busy).toBe(false);
      expect(all.storage.checkpointZxid).toBe(all.state.lastZxid);
      await all.storage.close();
      const random = seededRandom(1);
      const again = await openToy({
        treeStore: all.treeStore.crash(random),
        logFiles: all.logFiles.crash(random),
      });
      expect(again.recovered.damaged).toBe(null);
      expect(again.recovered.suffix).toEqual([]);
      expect(again.state.digest()).toBe(all.state.digest());
    }
  });

  it('leaves the last checkpoint out when it would take long', async () => {
    const all = await setUp();
    const { storage, state, hooks } = all;
    const few = { dirtyCountMax: 1, dirtyBytesMax: 1 };
    const slow = new Checkpointer(storage, state, hooks, few);
    for (let counter = 1; counter <= 9; counter++) await write(all, counter);
    expect(state.dirtyCount).toBeGreaterThan(4);
    await slow.finish(0, always);
    expect(storage.checkpointZxid).toBe(0);
    const begun = new Checkpointer(storage, state, hooks, { dirtyCountMax: 1, sliceCount: 1 });
    begun.step(0, 0, always);
    await begun.finish(0, always);
    expect(storage.checkpointZxid).toBe(0);
  });

  it('ends in time: what it has not captured by then is left to the log', async () => {
    for (const looks of [0, 1, 2, 3]) {
      const all = await setUp();
      for (let counter = 1; counter <= 9; counter++) await write(all, counter);
      let left = looks;
      await all.checkpointer.finish(0, () => left-- > 0);
      expect(all.storage.checkpointZxid).toBe(0);
      await all.storage.close();
      const random = seededRandom(1);
      const again = await openToy({
        treeStore: all.treeStore.crash(random),
        logFiles: all.logFiles.crash(random),
      });
      expect(again.recovered.damaged).toBe(null);
      expect(again.recovered.last).toBe(all.state.lastZxid);
    }
  });

  it('comes after a part of the usual way first, then after all of it', async () => {
    const { storage, state, hooks, ...rest } = await setUp();
    const dirtyCountMax = 6;
    const at: number[] = [];
    const early = new Checkpointer(storage, state, hooks, { dirtyCountMax, firstPart: 1 / 3 });
    for (let counter = 1; counter <= 14; counter++) {
      await write({ storage, state, ...rest }, counter);
      const before = storage.checkpointZxid;
      early.step(0, 0, always);
      await early.idle();
      if (storage.checkpointZxid !== before) at.push(counter);
    }
    expect(at).toEqual([2, 8, 14]);
  });

  it('waits until the log is a multiple of what it would write', async () => {
    const { storage, state, hooks, ...rest } = await setUp();
    const options = { dirtyCountMax: 1000, intervalMs: 1_000_000, logBytesMax: 1 };
    const patient = new Checkpointer(storage, state, hooks, { ...options, logPerChanged: 2 });
    const begunBytes = storage.logBytes;
    const changedBytes = vi.spyOn(state, 'dirtyBytes', 'get').mockReturnValue(1_000_000);
    for (let counter = 1; counter <= 9; counter++) {
      await write({ storage, state, ...rest }, counter);
      patient.step(0, 0, always);
    }
    expect(patient.busy).toBe(false);
    const logBytes = storage.logBytes - begunBytes;
    expect(logBytes).toBeGreaterThan(0);
    changedBytes.mockReturnValue(logBytes / 2 + 1);
    patient.step(0, 0, always);
    expect(patient.busy).toBe(false);
    changedBytes.mockReturnValue(logBytes / 2);
    patient.step(0, 0, always);
    expect(patient.busy).toBe(true);
    await patient.finish(0, always);
    expect(storage.checkpointZxid).toBe(state.lastZxid);
  });

  it('comes after a part of that multiple first, so that members differ in it, too', async () => {
    const { storage, state, hooks, ...rest } = await setUp();
    const limits = { dirtyCountMax: 1000, intervalMs: 1_000_000, logBytesMax: 1 };
    const options = { ...limits, logPerChanged: 2, firstPart: 1 / 4 };
    const early = new Checkpointer(storage, state, hooks, options);
    const begunBytes = storage.logBytes;
    const changedBytes = vi.spyOn(state, 'dirtyBytes', 'get');
    await write({ storage, state, ...rest }, 1);
    const logBytes = storage.logBytes - begunBytes;
    changedBytes.mockReturnValue(2 * logBytes + 1);
    early.step(0, 0, always);
    expect(early.busy).toBe(false);
    changedBytes.mockReturnValue(2 * logBytes);
    early.step(0, 0, always);
    expect(early.busy).toBe(true);
    await early.finish(0, always);
  });

  it('writes nothing at its end when nothing is new', async () => {
    const all = await setUp();
    await write(all, 1);
    await all.checkpointer.finish(0, always);
    const changes = all.treeStore.changeCount;
    await all.checkpointer.finish(0, always);
    expect(all.treeStore.changeCount).toBe(changes);
  });

  it('does not purge what a snapshot on its way or a reader of history needs', async () => {
    const all = await setUp();
    for (let counter = 1; counter <= 20; counter++) await write(all, counter);
    all.checkpointer.step(0, 0, always);
    while (all.checkpointer.busy) {
      all.checkpointer.step(0, 0, always);
      await all.checkpointer.idle();
    }
    const source = await all.storage.openSnapshot();
    for (let counter = 21; counter <= 200; counter++) {
      await write(all, counter);
      all.checkpointer.step(0, 0, always);
      await all.checkpointer.idle();
    }
    expect(all.storage.checkpointZxid).toBeGreaterThan(source.zxid);
    let count = 0;
    const through = all.storage.last;
    for await (const chunk of all.storage.readHistory(source.zxid, through)) count += chunk.count;
    expect(count).toBe(180);
    const baseBefore = all.storage.base;
    await source.close();
    expect(all.storage.purge(0)).toBeGreaterThan(baseBefore);
  });

  it('starts after a while even if nothing but errors was logged, and not when idle', async () => {
    const all = await setUp();
    await write(all, 1);
    all.checkpointer.step(0, 0, always);
    all.checkpointer.step(999, 0, always);
    await all.checkpointer.idle();
    expect(all.storage.checkpointZxid).toBe(0);
    all.checkpointer.step(1000, 0, always);
    await all.checkpointer.idle();
    expect(all.storage.checkpointZxid).toBe(all.state.lastZxid);
    const before = all.treeStore.changeCount;
    all.checkpointer.step(9000, 0, always);
    await all.checkpointer.idle();
    expect(all.treeStore.changeCount).toBe(before);
  });

  it('begins below the reserve of the disk only for much log, and for none of it at a tenth', async () => {
    const all = await setUp();
    const { storage, state, hooks } = all;
    const limits = { dirtyCountMax: 5, dirtyBytesMax: 1, intervalMs: 1000, logBytesMax: 2000 };
    const one = new Checkpointer(storage, state, hooks, { ...limits, logPerChanged: 0 });
    one.step(0, 0, always, 'full');
    for (let counter = 1; counter <= 9; counter++) await write(all, counter);
    expect(storage.logBytes).toBeLessThan(2000);
    one.step(5000, 0, always, 'full');
    await one.finish(0, always, 'full');
    expect([one.busy, storage.checkpointZxid]).toEqual([false, 0]);
    for (let counter = 10; storage.logBytes < 2000; counter++) await write(all, counter);
    one.step(6000, 0, always, 'scarce');
    await one.finish(0, always, 'scarce');
    expect([one.busy, storage.checkpointZxid]).toEqual([false, 0]);
    one.step(6000, 0, always, 'full');
    await one.idle();
    expect(storage.checkpointZxid).toBe(state.lastZxid);
  });

  it('captures what a turn has time for: a small part of a slice at least, one at most', async () => {
    const all = await setUp();
    const { storage, state, hooks } = all;
    const slow = new Checkpointer(storage, state, hooks, { dirtyCountMax: 5, sliceCount: 32 });
    for (let counter = 1; counter <= 9; counter++) await write(all, counter);
    expect(state.dirtyCount).toBe(7);
    const asked = vi.spyOn(state, 'captureSome');
    const records = () => asked.mock.calls.reduce((sum, [count]) => sum + count, 0);
    expect(slow.step(0, 0, () => false)).toBe(true);
    expect(records()).toBe(1);
    let looks = 2;
    expect(slow.step(0, 0, () => looks-- > 0)).toBe(true);
    expect(records()).toBe(1 + 3);
    expect(slow.step(0, 0, always)).toBe(false);
    expect(records()).toBe(1 + 3 + 32);
    await slow.idle();
    expect(storage.checkpointZxid).toBe(state.lastZxid);
  });

  it('forbids a truncation below the state that it froze', async () => {
    const all = await setUp();
    for (let counter = 1; counter <= 8; counter++) await write(all, counter);
    expect(all.checkpointer.step(0, 0, always)).toBe(true);
    await expect(all.storage.truncate(all.storage.last - 1)).rejects.toThrow('undo the checkpoint');
  });

  it('never writes a state that was thrown away into the tree of a snapshot', async () => {
    const leader = await setUp();
    for (let counter = 1; counter <= 30; counter++) await write(leader, counter);
    while (leader.checkpointer.step(0, 0, always));
    await leader.checkpointer.idle();
    const learner = await setUp();
    for (let counter = 1; counter <= 8; counter++) await write(learner, counter);
    expect(learner.checkpointer.step(0, 0, always)).toBe(true);
    const source = await leader.storage.openSnapshot();
    const sink = await learner.storage.beginSnapshot();
    for await (const records of source.records()) await sink.write(records);
    await learner.storage.installSnapshot(source.zxid);
    for (let i = 0; i < 20; i++) learner.checkpointer.step(5000, 0, always);
    await learner.checkpointer.idle();
    expect(learner.storage.checkpointZxid).toBe(source.zxid);
    const again = await openToy({
      treeStore: learner.treeStore.crash(() => 0),
      logFiles: learner.logFiles.crash(() => 0),
    });
    expect(again.recovered.damaged).toBe(null);
    expect(again.state.digest()).toBe(leader.state.digest());
  });
});
