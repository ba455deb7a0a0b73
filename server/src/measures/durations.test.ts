import { expect, it } from 'vitest';
import { Durations } from './summary.js';

it('durations below a millisecond count as what they are', () => {
  const durations = new Durations();
  for (const ms of [0.08, 0.5, 3]) durations.record(ms);
  durations.record(2, 2);
  const { count, sum, min, max, average } = durations;
  expect([count, sum, min, max, average]).toEqual([5, 7.58, 0.08, 3, 7.58 / 5]);
  expect(durations.percentile(0.2)).toBe(0.08);
});

it('are counted below a bound exactly where it is a power of two of microseconds', () => {
  const durations = new Durations();
  for (const ms of [0.1, 1.023, 1.024, 5]) durations.record(ms);
  expect([0.064, 0.128, 1.024, 2.048, 1e9].map((ms) => durations.countBelowMs(ms))).toEqual([
    0, 1, 2, 3, 4,
  ]);
});

it('what is negative, by clocks that differ, counts as 0', () => {
  const durations = new Durations();
  durations.record(-5);
  expect([durations.count, durations.sum]).toEqual([1, 0]);
});
