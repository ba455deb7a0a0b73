/**
 * Two of three disks are lost: nobody is elected, nothing is shown, and the log says what can be
 * done. What it says works: a directory that comes back is enough.
 */
import { describe, expect, it } from 'vitest';
import { connected, everyoneServes, serving, write } from './scenario.js';

const ADVICE = 'bring back the last data directory of one of those members';

describe('a majority of disks that are lost', () => {
  it('is told with what can be done, and one directory that comes back is enough', async () => {
    const ensemble = await serving();
    await write(ensemble, await connected(ensemble, 1), ['/kept']);
    for (const id of [1, 2, 3]) await ensemble.stop(id);
    const saved = ensemble.copyOf(2);
    for (const id of [2, 3]) ensemble.wipe(id);
    await ensemble.start();
    await ensemble.timers.advance(70_000);
    expect([1, 2, 3].map((id) => ensemble.serves(id))).toEqual([false, false, false]);
    const told = ensemble.lines.filter((line) => line.includes(ADVICE));
    expect(told.every((line) => line.includes('"member":1,'))).toBe(true);
    expect(told.every((line) => line.includes('new or wiped, so without a vote: 2, 3'))).toBe(true);
    // At once, and again after a minute.
    expect(told).toHaveLength(2);
    await ensemble.stop(2);
    ensemble.restore(2, saved);
    await ensemble.start(2);
    await everyoneServes(ensemble);
    expect(ensemble.member(3).state.tree.children(0)).toContain('kept');
  });

  it('is not told while a member that is down may still have its disk', async () => {
    const ensemble = await serving();
    for (const id of [1, 2, 3]) await ensemble.stop(id);
    ensemble.wipe(2);
    await ensemble.start(1, 2);
    await ensemble.timers.advance(5_000);
    expect(ensemble.lines.filter((line) => line.includes(ADVICE))).toEqual([]);
    const waits = 'new or wiped, so without a vote: 2; not connected: 3"';
    expect(ensemble.lines.some((line) => line.includes(waits))).toBe(true);
  });
});
