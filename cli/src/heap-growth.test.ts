/** Tests how much a heap may grow between two full collections. */
import { expect, it } from 'vitest';
import { growthPercent } from './heap-growth.js';

const MB = 1 << 20;

it('a small heap grows by 16 MB, a large one as V8 decides', () => {
  expect(growthPercent(8 * MB)).toBe(200);
  expect(growthPercent(16 * MB)).toBe(100);
  expect(growthPercent(45 * MB)).toBe(36);
  expect(growthPercent(45 * MB + 1)).toBe(0);
  expect(growthPercent(1000 * MB)).toBe(0);
});

it('a heap that has only begun to fill gets no multiple of what the next collection finds', () => {
  expect(growthPercent(3 * MB)).toBe(400);
});
