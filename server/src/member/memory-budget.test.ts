import { describe, expect, it } from 'vitest';
import { AMPLE_MEMORY, memoryBudgetOf } from './budgets.js';
import { derivedLimits } from './member-options.js';

const MB = 2 ** 20;
const GB = 2 ** 30;
const USUAL = { frameBytesMax: 1_048_575, members: 3, inputBytesMax: 256 << 20 };

function budgetOf(bytes: number, heapBytes = bytes / 2) {
  return memoryBudgetOf({ bytes, heapBytes, source: 'cgroup v2' });
}

describe('the budget of a member', () => {
  it('has its ceilings on a large machine', () => {
    expect(memoryBudgetOf(AMPLE_MEMORY)).toMatchObject({
      watcherBytesMax: 256 * MB,
      watchBytesMax: 512 * MB,
      listingBytesMax: 32 * MB,
      learnerWindowBytesMax: 128 * MB,
      unwrittenBytesMax: 64 * MB,
      behindBytesMax: 256 * MB,
      snapshotWaitingBytesMax: 64 * MB,
    });
  });

  it('leaves room for the process itself in every container that it fits', () => {
    for (const bytes of [256 * MB, 300 * MB, 512 * MB, 2 * GB, 24 * GB, 512 * GB]) {
      const { treeBytesMax, watcherBytesMax, behindBytesMax, ...others } = budgetOf(bytes);
      // One connection's watches are among all; a member leads or follows.
      const { unwrittenBytesMax, ...rest } = others;
      expect(unwrittenBytesMax).toBeLessThanOrEqual(behindBytesMax);
      expect(watcherBytesMax).toBeLessThanOrEqual(others.watchBytesMax);
      const all = Object.values(rest).reduce((sum, part) => sum + part, treeBytesMax);
      expect(all + behindBytesMax).toBeLessThanOrEqual(1.11 * (bytes - 112 * MB));
    }
  });

  it('grows with the limit, and is never nothing', () => {
    let before = budgetOf(16 * MB);
    expect(Math.min(...Object.values(before))).toBeGreaterThan(64 << 10);
    for (const bytes of [64 * MB, 300 * MB, GB, 8 * GB]) {
      const budget = budgetOf(bytes);
      expect(budget.treeBytesMax).toBeGreaterThanOrEqual(before.treeBytesMax);
      expect(budget.watchBytesMax).toBeGreaterThanOrEqual(before.watchBytesMax);
      before = budget;
    }
  });

  it('keeps what lies in the heap below the limit of the heap', () => {
    const { watchBytesMax, treeBytesMax } = budgetOf(24 * GB, 256 * MB);
    expect(watchBytesMax).toBe(64 * MB);
    expect(treeBytesMax).toBeGreaterThan(8 * GB);
  });

  it('lets a leader stop long before its followers give it up, in a fraction of its memory', () => {
    const { unwrittenBytesMax, behindBytesMax } = budgetOf(24 * GB);
    // More than members may have outstanding, so that a short stall stops nobody.
    expect(unwrittenBytesMax).toBeGreaterThan(3 * derivedLimits(USUAL).outstandingBytesMax);
    expect(behindBytesMax).toBeGreaterThanOrEqual(4 * unwrittenBytesMax);
  });
});
