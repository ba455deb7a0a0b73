/** When a member gives back the memory that V8 keeps for new objects, and that it does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { isWorthTrimming } from './heap-trim.js';

const MB = 1 << 20;
const LOADED = {
  cpuMs: 5,
  usedBytes: 12 * MB,
  totalBytes: 45 * MB,
  leastBytes: 0,
  externalBytes: 240 * MB,
};

it('a quiet member with a large tree and an empty heap gives memory back', () => {
  expect(isWorthTrimming(LOADED)).toBe(true);
});

it('a busy one does not, nor one with a small tree', () => {
  expect(isWorthTrimming({ ...LOADED, cpuMs: 50 })).toBe(true);
  expect(isWorthTrimming({ ...LOADED, cpuMs: 51 })).toBe(false);
  expect(isWorthTrimming({ ...LOADED, externalBytes: 128 * MB })).toBe(false);
});

it('a heap that is in use stays, and one that had as much after it was trimmed last', () => {
  expect(isWorthTrimming({ ...LOADED, usedBytes: 33 * MB })).toBe(true);
  expect(isWorthTrimming({ ...LOADED, usedBytes: 33 * MB + 1 })).toBe(false);
  expect(isWorthTrimming({ ...LOADED, leastBytes: 33 * MB })).toBe(true);
  expect(isWorthTrimming({ ...LOADED, leastBytes: 33 * MB + 1 })).toBe(false);
});

it('the young generation of a real process shrinks once it is quiet', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    PROGRAM,
    new URL('../dist/heap-trim.js', import.meta.url).href,
  ]);
  expect(stdout).toContain('trimmed');
});

/** Makes garbage beside a large buffer, then waits until the young generation is smaller. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from 'node:v8';
  const { trimHeapWhenQuiet } = await import(process.argv[1]);
  const youngBytes = () =>
    getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
  const tree = new Uint8Array(200 << 20);
  let kept = [];
  while (youngBytes() < 30 << 20) {
    if (kept.length === 3e5) kept = [];
    kept.push({});
  }
  trimHeapWhenQuiet();
  const looking = setInterval(() => {
    if (youngBytes() > 15 << 20) return;
    console.log('trimmed', tree.length);
    clearInterval(looking);
  }, 100);
`;
