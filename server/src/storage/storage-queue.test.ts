/** The queue between the core and the disk: order, group commit, and what a failure does. */
import { setImmediate as macrotask } from 'node:timers/promises';
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import { StorageQueue } from './storage.js';

async function setUp() {
  /** What each change of the tree store waits for. */
  const slow = { until: Promise.resolve() };
  const treeStore = new MemoryStore({ gate: () => slow.until });
  const logFiles = new MemoryLogDirectory();
  const opened = await openToy({ treeStore, logFiles }, { segmentBytesMax: 100_000 });
  const epochs = { accepted: 1, current: 1, ensembleId: '', founded: false };
  await opened.storage.saveEpochs(epochs);
  const events: string[] = [];
  const queue = new StorageQueue(opened.storage, {
    onPersisted: (ticket) => events.push(`persisted ${ticket} last ${opened.storage.last}`),
    onInstalled: (zxid) => {
      events.push(`installed ${zxid}`);
    },
    onDiscard: async (after) => {
      const random = seededRandom(1);
      const disk = { treeStore: treeStore.crash(random), logFiles: logFiles.crash(random) };
      const { recovered } = await openToy(disk, { segmentBytesMax: 100_000 });
      events.push(`discards after ${after}, a crash now leaves: ${recovered.damaged}`);
    },
    onGivenUp: async () => {
      events.push('given up');
    },
    onFatal: (error) => events.push(`fatal ${error instanceof Error ? error.name : ''}`),
  });
  return { ...opened, treeStore, logFiles, queue, events, slow };
}

const append = (ticket: number, counter: number) => {
  const previous = counter === 1 ? 0 : makeZxid(1, counter - 1);
  const batch = proposalsAfter(previous, { epoch: 1, counter, count: 1 });
  return { kind: 'append', ticket, batch } as const;
};
const saveEpochs = (ticket: number) =>
  ({
    kind: 'saveEpochs',
    ticket,
    accepted: 2,
    current: 2,
    ensembleId: '',
    founded: false,
    lineage: [],
    settled: true,
  }) as const;

/** Until the result is called, no change of the tree store takes effect. */
function held(slow: { until: Promise<void> }): () => void {
  let release = () => {};
  slow.until = new Promise((resolve) => {
    release = resolve;
  });
  return () => release();
}

/** The marks in both records of meta. */
function recordedIn(treeStore: MemoryStore): readonly number[] {
  const found: number[] = [];
  treeStore.tamper('meta', (entries) => {
    for (const stored of entries.values()) {
      const text = Buffer.from(stored).toString('latin1');
      found.push(Number(/"recordedZxid":(\d+)/.exec(text)?.[1]));
    }
  });
  return found;
}

describe('the storage queue', () => {
  it('merges the appends that wait into one synced write', async () => {
    const { queue, events, logFiles } = await setUp();
    const before = logFiles.changeCount;
    for (let i = 1; i <= 50; i++) queue.enqueue(append(i, i));
    await queue.idle();
    expect(logFiles.changeCount).toBe(before + 1);
    expect(events).toEqual([`persisted 50 last ${makeZxid(1, 50)}`]);
    expect(queue.pendingBytes).toBe(0);
  });

  it('never lets anything overtake what was asked for before', async () => {
    const { queue, events } = await setUp();
    queue.enqueue(append(1, 1));
    queue.enqueue(append(2, 2));
    queue.enqueue(saveEpochs(3));
    queue.enqueue(append(4, 3));
    queue.enqueue({ kind: 'truncate', ticket: 5, after: makeZxid(1, 1), diverged: false });
    await queue.idle();
    const [one, two, three] = [makeZxid(1, 1), makeZxid(1, 2), makeZxid(1, 3)];
    expect(events).toEqual([
      `persisted 2 last ${two}`,
      `persisted 3 last ${two}`,
      `persisted 4 last ${three}`,
      `persisted 5 last ${one}`,
    ]);
  });

  it('marks the end of the log behind the write under way, and once', async () => {
    const { queue, events, logFiles, storage, treeStore } = await setUp();
    const before = treeStore.changeCount;
    queue.markLogEnd();
    await queue.idle();
    expect(treeStore.changeCount).toBe(before);
    queue.markLogEnd();
    for (let i = 1; i <= 3; i++) queue.enqueue(append(i, i));
    await queue.idle();
    // Both records of meta.
    expect(treeStore.changeCount).toBe(before + 2);
    expect(events).toEqual([`persisted 3 last ${makeZxid(1, 3)}`]);
    queue.markLogEnd();
    await queue.idle();
    expect(treeStore.changeCount).toBe(before + 2);
    queue.enqueue({ kind: 'truncate', ticket: 4, after: makeZxid(1, 1), diverged: false });
    queue.markLogEnd();
    await queue.idle();
    // The end that the truncation brings, and the segment that it began.
    expect(treeStore.changeCount).toBe(before + 6);
    await storage.close();
    const random = seededRandom(1);
    const disk = { treeStore: treeStore.crash(random), logFiles: logFiles.crash(random) };
    const { recovered } = await openToy(disk, { segmentBytesMax: 100_000 });
    expect(recovered.damaged).toBe(null);
    expect(recovered.last).toBe(makeZxid(1, 1));
  });

  it('has no write wait for a mark, and begins no second one meanwhile', async () => {
    const { queue, events, treeStore, slow } = await setUp();
    const before = treeStore.changeCount;
    const release = held(slow);
    queue.enqueue(append(1, 1));
    queue.markLogEnd();
    for (let i = 2; i <= 4; i++) {
      await macrotask();
      queue.enqueue(append(i, i));
      queue.markLogEnd();
    }
    await macrotask();
    expect(events).toHaveLength(4);
    expect(treeStore.changeCount).toBe(before);
    release();
    await queue.idle();
    expect(recordedIn(treeStore)).toEqual([makeZxid(1, 1), makeZxid(1, 1)]);
    queue.markLogEnd();
    await queue.idle();
    expect(recordedIn(treeStore)).toEqual([makeZxid(1, 4), makeZxid(1, 4)]);
  });

  it('has a truncation lower a mark that is being written, wherever it dies', async () => {
    for (const when of ['before', 'after'] as const) {
      // Both records of meta for the mark, for the truncation, and for the segment that it begins.
      for (let change = 1; change <= 6; change++) {
        const { queue, treeStore, logFiles, slow } = await setUp();
        const release = held(slow);
        for (let i = 1; i <= 3; i++) queue.enqueue(append(i, i));
        queue.markLogEnd();
        await macrotask();
        queue.enqueue({ kind: 'truncate', ticket: 4, after: makeZxid(1, 1), diverged: false });
        treeStore.failAt(treeStore.changeCount + change, when);
        release();
        await queue.idle();
        const random = seededRandom(1);
        const disk = { treeStore: treeStore.crash(random), logFiles: logFiles.crash(random) };
        const { recovered } = await openToy(disk, { segmentBytesMax: 100_000 });
        const title = `${when} change ${change}`;
        expect(recovered.damaged, title).toBe(null);
        expect([makeZxid(1, 1), makeZxid(1, 3)], title).toContain(recovered.last);
      }
    }
  });

  it('ends with a mark that fails, and reports it once', async () => {
    const { queue, events, treeStore } = await setUp();
    treeStore.failAt(treeStore.changeCount + 2, 'before');
    queue.enqueue(append(1, 1));
    queue.markLogEnd();
    await queue.idle();
    queue.enqueue(append(2, 2));
    queue.markLogEnd();
    await queue.idle();
    expect(events).toEqual([`persisted 1 last ${makeZxid(1, 1)}`, 'fatal StorageFault']);
  });

  it('has given up for good before it writes down what is discarded', async () => {
    const { queue, events } = await setUp();
    queue.enqueue({ kind: 'giveUp', ticket: 1, after: 0, reason: 'an old copy' });
    await queue.idle();
    expect(events).toEqual([
      'discards after 0, a crash now leaves: an old copy',
      'given up',
      'persisted 1 last 0',
    ]);
  });

  it('reports a failed write once and runs nothing after it', async () => {
    const { queue, events, logFiles } = await setUp();
    logFiles.failAt(logFiles.changeCount + 1, 'before');
    queue.enqueue(append(1, 1));
    queue.enqueue(saveEpochs(2));
    await queue.idle();
    queue.enqueue(append(3, 2));
    await queue.idle();
    expect(events).toEqual(['fatal StorageFault']);
  });
});
