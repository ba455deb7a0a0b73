/** How much a heap may grow between two collections of all of it. */
import { expect, it } from 'vitest';
import { growthPercent } from './heap-growth.js';

const MB = 1 << 20;

it('a small heap grows by 64 MB, a large one as V8 thinks fit', () => {
  expect(growthPercent(16 * MB, 20 * MB)).toBe(400);
  expect(growthPercent(64 * MB, 20 * MB)).toBe(100);
  expect(growthPercent(90 * MB, 20 * MB)).toBe(71);
  expect(growthPercent(92 * MB, 20 * MB)).toBe(0);
  expect(growthPercent(1000 * MB, 20 * MB)).toBe(0);
});

it('a small heap beside a large tree grows by 16 MB', () => {
  expect(growthPercent(16 * MB, 128 * MB)).toBe(400);
  expect(growthPercent(16 * MB, 128 * MB + 1)).toBe(100);
  expect(growthPercent(22 * MB, 240 * MB)).toBe(73);
  expect(growthPercent(23 * MB, 240 * MB)).toBe(0);
});

it('a heap that has only begun is not granted many times what the next collection finds', () => {
  expect(growthPercent(3 * MB, 20 * MB)).toBe(400);
});
