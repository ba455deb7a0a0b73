/**
 * Percentiles are never better than the truth: they are compared with the sorted values themselves.
 */
import { describe, expect, it } from 'vitest';
import { Histogram } from './histogram.js';

describe('Histogram', () => {
  it('gives percentiles at or above the true value, by 1.6 % at most', () => {
    const values: number[] = [];
    const histogram = new Histogram();
    let seed = 7;
    for (let count = 0; count < 20_000; count++) {
      seed = (seed * 48_271) % 2_147_483_647;
      const value = seed % (1 << (seed % 27));
      values.push(value);
      histogram.add(value);
    }
    values.sort((a, b) => a - b);
    for (const percent of [1, 50, 90, 99, 99.9, 100]) {
      const exact = values[Math.ceil((percent / 100) * values.length) - 1] ?? 0;
      expect(histogram.percentileUs(percent)).toBeGreaterThanOrEqual(exact);
      expect(histogram.percentileUs(percent)).toBeLessThanOrEqual(exact * (1 + 1 / 64) + 1);
    }
  });

  it('keeps the largest value exactly, and counts larger values as its limit', () => {
    const histogram = new Histogram();
    histogram.add(123_456.7);
    expect(histogram.maxUs).toBe(123_457);
    expect(histogram.percentileUs(100)).toBe(123_457);
    histogram.add(1e15);
    expect(histogram.percentileUs(100)).toBe(0xffff_ffff);
  });

  it('has percentiles of 0 when it has no values', () => {
    expect(new Histogram().percentileUs(99)).toBe(0);
  });
});
