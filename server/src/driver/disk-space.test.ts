// Tests at which free bytes a disk counts as nearly full, full, and recovered, of one disk and two.
import pino from 'pino';
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { DiskSpace, defaultReserve, type Space } from './write-bounds.js';

const MB = 1_000_000;
const GB = 1000 * MB;

function watched(reserveBytes: number | null, totalBytes = 10 * GB) {
  const timers = new ManualTimers();
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line).msg.split(':')[0]) });
  const disk: { space: Space | null } = { space: { freeBytes: totalBytes, totalBytes } };
  const spaceOf = () => Promise.resolve(disk.space);
  const space = new DiskSpace(['/data'], reserveBytes, spaceOf, timers, logger);
  const withFree = async (freeBytes: number) => {
    disk.space = { freeBytes, totalBytes };
    await timers.advance(1000);
    return space.shortage !== null;
  };
  return { space, timers, lines, disk, withFree };
}

it.each([
  [0.4 * GB, 100 * MB],
  [1 * GB, 250 * MB],
  [2 * GB, 500 * MB],
  [25 * GB, 500 * MB],
  [100 * GB, 2 * GB],
])('of %i bytes the reserve is %i', (total, reserve) => {
  expect(defaultReserve(total)).toBe(reserve);
});

it('warns below a fifth, is full below its reserve, and recovers a tenth above it', async () => {
  const { withFree, lines } = watched(null);
  expect(await withFree(2 * GB)).toBe(false);
  expect(lines).toEqual([]);
  expect(await withFree(2 * GB - 1)).toBe(false);
  expect(await withFree(500 * MB)).toBe(false);
  expect(lines).toEqual(['disk.nearly_full']);
  expect(await withFree(500 * MB - 1)).toBe(true);
  expect(await withFree(550 * MB - 1)).toBe(true);
  expect(await withFree(550 * MB)).toBe(false);
  await withFree(2.2 * GB - 1);
  await withFree(2 * GB - 1);
  expect(lines).toEqual(['disk.nearly_full', 'disk.full', 'disk.has_room']);
  await withFree(2.2 * GB);
  await withFree(2 * GB - 1);
  const once = ['disk.nearly_full', 'disk.full', 'disk.has_room'];
  expect(lines).toEqual([...once, 'disk.nearly_full']);
});

it('warns below twice the reserve where that is more than a fifth', async () => {
  const { withFree, lines } = watched(3 * GB);
  await withFree(6 * GB);
  expect(lines).toEqual([]);
  await withFree(6 * GB - 1);
  expect(lines).toEqual(['disk.nearly_full']);
});

it('measures nothing once it is stopped, not even behind a measurement that is under way', async () => {
  for (const isUnderWay of [false, true]) {
    const timers = new ManualTimers();
    let asked = 0;
    let answer: (space: Space) => void = () => undefined;
    const space = new DiskSpace(
      ['/data'],
      null,
      () => {
        asked += 1;
        return new Promise<Space>((resolve) => {
          answer = resolve;
        });
      },
      timers,
      pino({ level: 'silent' }),
    );
    const full = { freeBytes: 1, totalBytes: 10 * GB };
    if (!isUnderWay) answer(full);
    await timers.advance(0);
    space.stop();
    answer(full);
    await timers.advance(5000);
    expect([asked, space.shortage !== null]).toEqual([1, !isUnderWay]);
  }
});

it('a disk of which nothing is known keeps the last answer', async () => {
  const { withFree, disk, timers, space } = watched(1 * GB);
  expect(await withFree(1 * GB - 1)).toBe(true);
  disk.space = null;
  await timers.advance(5000);
  expect(space.room).toBe('full');
});

it('a disk that does not answer keeps the last answer, is not asked again, and holds nothing up', async () => {
  const timers = new ManualTimers();
  let asked = 0;
  const full = { freeBytes: 1, totalBytes: 10 * GB };
  const space = new DiskSpace(
    ['/data'],
    1 * GB,
    () => (++asked === 1 ? Promise.resolve(full) : new Promise(() => undefined)),
    timers,
    pino({ level: 'silent' }),
  );
  await timers.advance(5000);
  expect([asked, space.room, space.freeBytes]).toEqual([2, 'scarce', 1]);
});

it('the fuller one of two disks counts, whichever it is, and each by its own size', async () => {
  const timers = new ManualTimers();
  const disks = new Map<string, Space | null>();
  const space = new DiskSpace(
    ['/data', '/log'],
    null,
    (directory) => Promise.resolve(disks.get(directory) ?? null),
    timers,
    pino({ level: 'silent' }),
  );
  for (const [data, log, shortage] of [
    [40 * GB, 3 * GB, null],
    [40 * GB, 499 * MB, { freeBytes: 499 * MB, reserveBytes: 500 * MB }],
    [1.9 * GB, 3 * GB, { freeBytes: 1.9 * GB, reserveBytes: 2 * GB }],
    // As long as one of them is full, both have to have a tenth more than their reserve.
    [2.1 * GB, 3 * GB, { freeBytes: 2.1 * GB, reserveBytes: 2 * GB }],
    [2.2 * GB, 3 * GB, null],
  ] as const) {
    disks.set('/data', { freeBytes: data, totalBytes: 100 * GB });
    disks.set('/log', { freeBytes: log, totalBytes: 5 * GB });
    await timers.advance(1000);
    expect([space.shortage, space.freeBytes]).toEqual([shortage, Math.min(data, log)]);
  }
  // What is known of one of them is judged although nothing is known of the other.
  disks.set('/data', null);
  disks.set('/log', { freeBytes: 1, totalBytes: 5 * GB });
  await timers.advance(1000);
  expect(space.room).toBe('scarce');
  space.stop();
  disks.set('/log', { freeBytes: 5 * GB, totalBytes: 5 * GB });
  await timers.advance(5000);
  expect(space.room).toBe('scarce');
});

it('counts what was refused, and says whose disk is full', () => {
  const { space, lines } = watched(null);
  space.onRefused(3);
  space.onRefused(4);
  expect(space.refused).toBe(7);
  expect(lines).toEqual(['disk.refused', 'disk.refused']);
});

it('is scarce below a tenth of its reserve, until it is full no more', async () => {
  const { withFree, space } = watched(1 * GB);
  for (const [freeBytes, room] of [
    [1 * GB, 'enough'],
    [1 * GB - 1, 'full'],
    [100 * MB, 'full'],
    [100 * MB - 1, 'scarce'],
    [100 * MB, 'full'],
    [1.1 * GB, 'enough'],
  ] as const) {
    await withFree(freeBytes);
    expect(space.room).toBe(room);
  }
});

it('refuses what the core of a leader says, until the end of its term', () => {
  const { space } = watched(null);
  space.onRefusal({ kind: 'refusal', isOn: true, full: [2] });
  expect(space.refuses).toBe(true);
  space.onRefusal(null);
  expect(space.refuses).toBe(false);
});

it('without a reserve it is never full', async () => {
  expect(await watched(0).withFree(0)).toBe(false);
});
