/** How much a heap may grow between two collections of all of it. */
import { expect, it } from 'vitest';
import { growthPercent } from './heap-growth.js';

const MB = 1 << 20;

it('a small heap grows by 64 MB, a large one as V8 thinks fit', () => {
  expect(growthPercent(16 * MB)).toBe(400);
  expect(growthPercent(64 * MB)).toBe(100);
  expect(growthPercent(90 * MB)).toBe(71);
  expect(growthPercent(92 * MB)).toBe(0);
  expect(growthPercent(1000 * MB)).toBe(0);
});

it('a heap that has only begun is not granted many times what the next collection finds', () => {
  expect(growthPercent(3 * MB)).toBe(400);
});
