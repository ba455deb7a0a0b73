/** Tests when a member gives back the memory that V8 keeps for new objects. */
import { expect, it } from 'vitest';
import { isWorthCollecting, isWorthTrimming } from './heap-trim.js';

const MB = 1 << 20;
const LOADED = {
  cpuMs: 5,
  usedBytes: 12 * MB,
  totalBytes: 45 * MB,
  leastBytes: 0,
  externalBytes: 240 * MB,
  leastExternalBytes: 240 * MB,
};

it('a quiet member with a large tree and an empty heap gives memory back', () => {
  expect(isWorthTrimming(LOADED)).toBe(true);
});

it('a busy member gives no memory back, nor does one with a small tree', () => {
  expect(isWorthTrimming({ ...LOADED, cpuMs: 50 })).toBe(true);
  expect(isWorthTrimming({ ...LOADED, cpuMs: 51 })).toBe(false);
  expect(isWorthTrimming({ ...LOADED, externalBytes: 128 * MB })).toBe(false);
});

it('a large heap gives none back, however much of it is empty, because marking it takes long', () => {
  const large = { ...LOADED, usedBytes: 48 * MB, totalBytes: 300 * MB };
  expect(isWorthTrimming(large)).toBe(true);
  expect(isWorthTrimming({ ...large, usedBytes: 48 * MB + 1 })).toBe(false);
});

it('a heap in use is left alone, and so is one that was as large after its last trim', () => {
  expect(isWorthTrimming({ ...LOADED, usedBytes: 33 * MB })).toBe(true);
  expect(isWorthTrimming({ ...LOADED, usedBytes: 33 * MB + 1 })).toBe(false);
  expect(isWorthTrimming({ ...LOADED, leastBytes: 33 * MB })).toBe(true);
  expect(isWorthTrimming({ ...LOADED, leastBytes: 33 * MB + 1 })).toBe(false);
});

it('a quiet member with many dead buffers collects them, a busy one or a large heap does not', () => {
  const freed = { ...LOADED, leastExternalBytes: 176 * MB };
  expect(isWorthCollecting(freed)).toBe(true);
  expect(isWorthCollecting({ ...freed, leastExternalBytes: 176 * MB + 1 })).toBe(false);
  expect(isWorthCollecting({ ...freed, cpuMs: 51 })).toBe(false);
  expect(isWorthCollecting({ ...freed, usedBytes: 48 * MB + 1 })).toBe(false);
});
