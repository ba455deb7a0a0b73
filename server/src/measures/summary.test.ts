import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Summary } from './summary.js';

describe('a summary', () => {
  it('is all zero before the first value and after a reset', () => {
    const summary = new Summary();
    summary.record(7);
    summary.reset();
    const { count, sum, min, max, average } = summary;
    expect([count, sum, min, max, average, summary.percentile(0.5)]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('shows percentiles of the current window and the one before it, and counts all', () => {
    const summary = new Summary();
    const p50s: number[] = [];
    for (const value of [8, 1, 2, 3]) {
      for (let times = 0; times < 10; times += 1) summary.record(value);
      p50s.push(summary.percentile(0.5));
      summary.nextWindow();
    }
    expect(p50s).toEqual([8, 1, 1, 2]);
    summary.nextWindow();
    const { count, sum, min, max } = summary;
    expect([count, sum, min, max, summary.countBelow(3)]).toEqual([40, 140, 1, 8, 20]);
    expect([summary.percentile(0.5), summary.percentile(1)]).toEqual([0, 0]);
  });

  it('is exact in count, sum and bounds, and within an eighth in percentiles', () => {
    const values = fc.array(fc.integer({ min: 0, max: 2 ** 31 }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.constantFrom(0.5, 0.95, 0.999), (recorded, share) => {
        const summary = new Summary();
        for (const value of recorded) summary.record(value);
        const sorted = recorded.toSorted((a, b) => a - b);
        const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
        expect([summary.min, summary.max]).toEqual([sorted[0], sorted.at(-1)]);
        expect([summary.count, summary.sum]).toEqual([
          recorded.length,
          recorded.reduce((sum, value) => sum + value, 0),
        ]);
        expect(summary.percentile(share)).toBeLessThanOrEqual(exact);
        expect(summary.percentile(share)).toBeGreaterThanOrEqual(Math.floor((exact * 8) / 9));
      }),
    );
  });
});
