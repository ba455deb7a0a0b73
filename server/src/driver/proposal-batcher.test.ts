/** What a leader proposes together and at once, and what waits for a larger batch. */
import { describe, expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import type { Txn } from '../state/txn.js';
import { BATCH_MIN, LINGER_MS, ProposalBatcher } from './leader.js';

function newBatcher() {
  const timers = new ManualTimers();
  const wakes: number[] = [];
  const batcher = new ProposalBatcher(0, timers, () => wakes.push(timers.nowMs()));
  let zxid = 0;
  const add = (count: number, dataBytes = 0) => {
    for (let left = count; left > 0; left--) {
      zxid += 1;
      batcher.add(zxid, setOf(dataBytes));
    }
  };
  /** How many proposals are due; null while they wait. */
  const due = (hasUndelivered: boolean) => {
    const batches = batcher.takeDue(hasUndelivered, timers.nowMs());
    return batches?.reduce((sum, { count }) => sum + count, 0) ?? null;
  };
  return { timers, wakes, batcher, add, due };
}

function setOf(dataBytes: number): Txn {
  const op = { kind: 'setData', path: '/a', data: new Uint8Array(dataBytes), version: 1 } as const;
  return { origin: 1, request: 1, session: 1, time: 1, op };
}
describe('a prepared batch', () => {
  it('is proposed at once when every earlier one is applied, however small', () => {
    const { add, due } = newBatcher();
    add(1);
    expect(due(false)).toBe(1);
  });

  it('waits while an earlier one is not applied, and goes in the turn in which it is', async () => {
    const { timers, add, due } = newBatcher();
    add(1);
    expect(due(true)).toBeNull();
    await timers.advance(LINGER_MS / 2);
    add(4);
    expect(due(true)).toBeNull();
    expect(due(false)).toBe(5);
  });

  it('does not wait when it is large', () => {
    const { add, due } = newBatcher();
    add(BATCH_MIN - 1);
    expect(due(true)).toBeNull();
    add(1);
    expect(due(true)).toBe(BATCH_MIN);
  });

  it('waits no longer than it may, and a turn is run then, though nothing else happens', async () => {
    const { timers, wakes, add, due } = newBatcher();
    add(1);
    expect(due(true)).toBeNull();
    await timers.advance(LINGER_MS);
    expect(wakes).toEqual([LINGER_MS]);
    expect(due(true)).toBe(1);
  });

  it('waits anew when the one before it is still not applied', async () => {
    const { timers, wakes, add, due } = newBatcher();
    add(1);
    due(true);
    await timers.advance(LINGER_MS);
    expect(due(true)).toBe(1);
    add(1);
    expect(due(true)).toBeNull();
    await timers.advance(LINGER_MS);
    expect(wakes).toHaveLength(2);
  });

  it('waits no longer than it may behind one that went before its time', async () => {
    const { timers, wakes, add, due } = newBatcher();
    add(1);
    due(true);
    await timers.advance(LINGER_MS / 2);
    expect(due(false)).toBe(1);
    add(1);
    expect(due(true)).toBeNull();
    await timers.advance(LINGER_MS / 2);
    expect(wakes).toEqual([LINGER_MS]);
    expect(due(true)).toBeNull();
    await timers.advance(LINGER_MS / 2);
    expect(wakes).toEqual([LINGER_MS, 1.5 * LINGER_MS]);
    expect(due(true)).toBe(1);
  });

  it('wakes nobody once it is proposed', async () => {
    const { timers, wakes, add, due } = newBatcher();
    add(1);
    due(true);
    due(false);
    await timers.advance(10 * LINGER_MS);
    expect(wakes).toEqual([]);
  });

  it('that is empty is due at once, so that questions to the quorum do not wait', () => {
    expect(newBatcher().due(true)).toBe(0);
  });
});

it('proposes in order, in batches of bounded size, and knows the sizes', () => {
  const { batcher, add } = newBatcher();
  add(100, 20 << 10);
  add(1);
  const batches = batcher.takeDue(false, 0) ?? [];
  const zxids = batches.flatMap((batch) => [...batch].map(({ zxid }) => zxid));
  expect(zxids).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
  for (const { bytes } of batches) expect(bytes.length).toBeLessThan(600 << 10);
  const { last, min, max } = batcher.sizes;
  expect([min, max > 20 << 10, max < 21 << 10]).toEqual([last, true, true]);
});
