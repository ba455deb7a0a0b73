// Tests at which free bytes a disk counts as nearly full, full, and recovered.
import pino from 'pino';
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { DiskSpace, defaultReserve, type Space } from './disk-space.js';

const MB = 1_000_000;
const GB = 1000 * MB;

function watched(reserveBytes: number | null, totalBytes = 10 * GB) {
  const timers = new ManualTimers();
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line).msg.split(':')[0]) });
  const disk: { space: Space | null } = { space: { freeBytes: totalBytes, totalBytes } };
  const space = new DiskSpace({
    ...{ directories: ['/data'], reserveBytes, timeoutMs: 1000, timers, logger },
    spaceOf: () => Promise.resolve(disk.space),
  });
  const withFree = async (freeBytes: number) => {
    disk.space = { freeBytes, totalBytes };
    await timers.advance(1000);
    return space.isFull;
  };
  return { space, timers, lines, disk, withFree };
}

/** What it tells its leader, member 3, with a heartbeat. */
function toldBy(space: DiskSpace, role: 'following' | 'leading' = 'following'): unknown[] {
  const calls: unknown[] = [];
  space.onHeartbeat({ role, leader: 3 }, { tell: (...call) => void calls.push(call) });
  return calls;
}

it.each([
  [1 * GB, 100 * MB],
  [5 * GB, 500 * MB],
  [25 * GB, 500 * MB],
  [100 * GB, 2 * GB],
])('of %i bytes the reserve is %i', (total, reserve) => {
  expect(defaultReserve(total)).toBe(reserve);
});

it('warns below a fifth, is full below its reserve, and recovers a tenth above it', async () => {
  const { withFree, lines, space } = watched(null);
  expect(await withFree(2 * GB)).toBe(false);
  expect(lines).toEqual([]);
  expect(await withFree(2 * GB - 1)).toBe(false);
  expect(await withFree(500 * MB)).toBe(false);
  expect(lines).toEqual(['disk.nearly_full']);
  expect(await withFree(500 * MB - 1)).toBe(true);
  expect(toldBy(space)).toEqual([[3, { kind: 'diskFull', freeBytes: 500 * MB - 1 }, 14]]);
  expect(toldBy(space, 'leading')).toEqual([]);
  expect(await withFree(550 * MB - 1)).toBe(true);
  expect(await withFree(550 * MB)).toBe(false);
  expect(toldBy(space)).toEqual([]);
  await withFree(2.2 * GB);
  await withFree(2 * GB - 1);
  const once = ['disk.nearly_full', 'disk.full', 'disk.has_room'];
  expect(lines).toEqual([...once, 'disk.nearly_full']);
});

it('a disk of which nothing is known keeps the last answer', async () => {
  const { withFree, disk, timers, space } = watched(1 * GB);
  expect(await withFree(1 * GB - 1)).toBe(true);
  disk.space = null;
  await timers.advance(5000);
  expect(space.isFull).toBe(true);
});

it('without a reserve it is never full', async () => {
  expect(await watched(0).withFree(0)).toBe(false);
});

it('what another member told counts until it has not told it for the timeout', async () => {
  const { space, timers, lines } = watched(null);
  for (let told = 0; told < 3; told++) {
    space.onMessage(2, { kind: 'diskFull', freeBytes: 1 });
    await timers.advance(1000);
    toldBy(space);
    expect(space.isFull).toBe(true);
  }
  await timers.advance(1);
  toldBy(space);
  expect(space.isFull).toBe(false);
  expect(lines).toEqual(['disk.member_full']);
});
