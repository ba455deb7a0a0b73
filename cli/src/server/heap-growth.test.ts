/** Tests how much a heap may grow between two full collections. */
import { expect, it } from 'vitest';
import { growthPercent, HeapStep } from './heap-growth.js';

const MB = 1 << 20;

it('a small heap grows by 16 MB, and a large one as V8 decides', () => {
  expect(growthPercent(8 * MB, 16 * MB)).toBe(200);
  expect(growthPercent(16 * MB, 16 * MB)).toBe(100);
  expect(growthPercent(45 * MB, 16 * MB)).toBe(36);
  expect(growthPercent(45 * MB + 1, 16 * MB)).toBe(0);
  expect(growthPercent(1000 * MB, 16 * MB)).toBe(0);
});

it('a heap that has only begun to fill may not grow to a multiple of what the next collection finds', () => {
  expect(growthPercent(3 * MB, 16 * MB)).toBe(400);
});

it('the step doubles while collections come often, and halves when they are rare', () => {
  const step = new HeapStep(24_000 * MB);
  const steps = [0, 500, 1000, 1500, 2000, 6000, 17_000, 30_000, 60_000].map((nowMs) => {
    step.onCollection(nowMs);
    return step.bytes / MB;
  });
  expect(steps).toEqual([16, 32, 64, 64, 64, 64, 32, 16, 16]);
});

it('the step is at most a sixteenth of what the process may use, and at least 16 MB', () => {
  for (const [limitMb, stepMb] of [
    [512, 32],
    [128, 16],
  ] as const) {
    const step = new HeapStep(limitMb * MB);
    for (const nowMs of [0, 10, 20, 30]) step.onCollection(nowMs);
    expect(step.bytes).toBe(stepMb * MB);
  }
});
