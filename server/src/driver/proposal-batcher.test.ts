/** What a leader proposes at once, and what waits for a larger batch. */
import { describe, expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { BATCH_MIN, LINGER_MS, ProposalBatcher } from './proposal-batcher.js';

function newBatcher() {
  const timers = new ManualTimers();
  const wakes: number[] = [];
  const pace = new ProposalBatcher(timers, () => wakes.push(timers.nowMs()));
  const isDue = (proposals: number, hasUnapplied: boolean) =>
    pace.isDue({ proposals, hasUnapplied }, timers.nowMs());
  return { timers, wakes, isDue };
}

describe('a prepared batch', () => {
  it('is proposed at once when every earlier one is applied, however small', () => {
    expect(newBatcher().isDue(1, false)).toBe(true);
  });

  it('waits while an earlier one is not applied, and goes in the turn in which it is', async () => {
    const { timers, isDue } = newBatcher();
    expect(isDue(1, true)).toBe(false);
    await timers.advance(LINGER_MS / 2);
    expect(isDue(5, true)).toBe(false);
    expect(isDue(5, false)).toBe(true);
  });

  it('does not wait when it is large', () => {
    expect(newBatcher().isDue(BATCH_MIN - 1, true)).toBe(false);
    expect(newBatcher().isDue(BATCH_MIN, true)).toBe(true);
  });

  it('waits no longer than it may, and a turn is run then, though nothing else happens', async () => {
    const { timers, wakes, isDue } = newBatcher();
    expect(isDue(1, true)).toBe(false);
    await timers.advance(LINGER_MS);
    expect(wakes).toEqual([LINGER_MS]);
    expect(isDue(1, true)).toBe(true);
  });

  it('waits anew when the one before it is still not applied', async () => {
    const { timers, wakes, isDue } = newBatcher();
    isDue(1, true);
    await timers.advance(LINGER_MS);
    expect(isDue(1, true)).toBe(true);
    expect(isDue(1, true)).toBe(false);
    await timers.advance(LINGER_MS);
    expect(wakes).toHaveLength(2);
  });

  it('waits no longer than it may behind one that went before its time', async () => {
    const { timers, wakes, isDue } = newBatcher();
    isDue(1, true);
    await timers.advance(LINGER_MS / 2);
    expect(isDue(1, false)).toBe(true);
    expect(isDue(1, true)).toBe(false);
    await timers.advance(LINGER_MS / 2);
    expect(wakes).toEqual([LINGER_MS]);
    expect(isDue(1, true)).toBe(false);
    await timers.advance(LINGER_MS / 2);
    expect(wakes).toEqual([LINGER_MS, 1.5 * LINGER_MS]);
    expect(isDue(1, true)).toBe(true);
  });

  it('wakes nobody once it is proposed', async () => {
    const { timers, wakes, isDue } = newBatcher();
    isDue(1, true);
    isDue(1, false);
    await timers.advance(10 * LINGER_MS);
    expect(wakes).toEqual([]);
  });

  it('that is none holds back no question behind it', () => {
    expect(newBatcher().isDue(0, true)).toBe(true);
  });
});
