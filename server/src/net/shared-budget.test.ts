/** Who is closed when a budget is used up; holders are their own bytes here. */
import { describe, expect, it } from 'vitest';
import { SharedBudget } from './shared-budget.js';

function budgetOf(bytesMax: number, holders: readonly number[]) {
  const budget = new SharedBudget<number>(bytesMax);
  for (const bytes of holders) budget.add(bytes);
  const excess = () =>
    budget.excess(
      holders,
      (bytes) => bytes,
      (bytes) => bytes,
    );
  return { budget, excess };
}

describe('a budget that many share', () => {
  it('is exceeded by one byte too many and not by all that it has', () => {
    expect(budgetOf(100, [60, 40]).budget.isExceeded).toBe(false);
    expect(budgetOf(100, [60, 41]).budget.isExceeded).toBe(true);
  });

  it('gives up the largest until an eighth is free, the largest that stays not counted', () => {
    const { excess } = budgetOf(100, [10, 80, 20, 60, 30]);
    // Without the largest they hold 120; without 80 and 60, beside the 30 that are not counted, 30.
    expect(excess()).toEqual([80]);
    expect(budgetOf(100, [10, 70, 80, 60, 30]).excess()).toEqual([80, 70]);
  });

  it('gives up nobody while all but the largest fit, and looks again once they no longer do', () => {
    const { budget, excess } = budgetOf(100, [500, 100]);
    expect(budget.isExceeded).toBe(true);
    expect(excess()).toEqual([]);
    expect(budget.isExceeded).toBe(false);
    budget.add(1);
    expect(budget.isExceeded).toBe(true);
  });

  it('looks at its limit again once it was kept', () => {
    const { budget, excess } = budgetOf(100, [500]);
    expect(excess()).toEqual([]);
    budget.add(-450);
    budget.add(51);
    expect(budget.isExceeded).toBe(true);
  });

  it('asks who holds how much now, and passes over who holds nothing', () => {
    const budget = new SharedBudget<string>(10);
    budget.add(40);
    const now: Readonly<Record<string, number>> = { a: 20, b: 0, c: 20 };
    expect(
      budget.excess(
        Object.keys(now),
        (name) => now[name] ?? 0,
        (name) => name,
      ),
    ).toEqual(['a']);
  });

  it('closes many small ones of one address before a larger one of another', () => {
    const budget = new SharedBudget<string>(100);
    const bytesOf = (name: string) => (name === 'large' ? 30 : 10);
    const groupOf = (name: string) => (name === 'large' ? 'other' : 'most');
    const small = Array.from({ length: 12 }, (_, index) => `small ${index}`);
    budget.add(30 + 120);
    const closed = budget.excess(['large', ...small], bytesOf, groupOf);
    // 80 and the largest, which is not counted, stay.
    expect(closed).toEqual(small.slice(0, 4));
  });
});
