/**
 * Goal: whatever comes in whatever order, every key that is frequent enough is there, and no count
 * is further from the truth than is promised. Method: compare with exact counts.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HeavyHitters } from './heavy-hitters.js';

const record = fc.record({
  // Few keys are frequent, as in the real world, and many are rare.
  key: fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 60 }).map(String)),
  weight: fc.integer({ min: 1, max: 9 }),
});

it('has every key above its guaranteed error, and bounds each count from both sides', () => {
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 400, size: 'max' }),
      fc.integer({ min: 1, max: 20 }),
      (records, capacity) => {
        const sketch = new HeavyHitters<string>(capacity);
        const exact = new Map<string, number>();
        for (const { key, weight } of records) {
          sketch.record(key, weight);
          exact.set(key, (exact.get(key) ?? 0) + weight);
        }
        const total = records.reduce((sum, { weight }) => sum + weight, 0);
        expect(sketch.total).toBe(total);
        const errorMax = total / capacity;
        const hitters = [...sketch.hitters()];
        expect(hitters.length).toBe(Math.min(capacity, exact.size));
        for (const { key, atLeast, atMost } of hitters) {
          const count = exact.get(key) ?? 0;
          expect(atLeast).toBeLessThanOrEqual(count);
          expect(atMost).toBeGreaterThanOrEqual(count);
          expect(atMost - atLeast).toBeLessThanOrEqual(errorMax);
        }
        const told = new Set(hitters.map(({ key }) => key));
        const frequent = [...exact].filter(([, count]) => count > errorMax);
        expect(frequent.filter(([key]) => !told.has(key))).toEqual([]);
        // What every count may be too large by is what others have counted.
        expect(hitters.reduce((sum, { atMost }) => sum + atMost, 0)).toBe(total);
      },
    ),
  );
});

it('counts exactly while there are no more keys than counters', () => {
  const sketch = new HeavyHitters<number>(3);
  for (const key of [7, 8, 7, 9, 7]) sketch.record(key, 2);
  expect([...sketch.hitters()]).toEqual([
    { key: 7, atLeast: 6, atMost: 6 },
    { key: 8, atLeast: 2, atMost: 2 },
    { key: 9, atLeast: 2, atMost: 2 },
  ]);
});
