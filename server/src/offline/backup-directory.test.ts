/** Which backups a rule keeps. */
import { expect, it } from 'vitest';
import { type Backup, expiredBackups } from './backup-directory.js';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 0, 31, 12);

/** One for each age in hours, which come in descending order. */
function backupsOf(...ages: readonly number[]): Backup[] {
  return ages.map((age, at) => {
    const writtenMs = NOW - age * HOUR_MS;
    return { path: `${age}`, zxid: BigInt(at + 1), bytes: 1, writtenMs };
  });
}

function expired(backups: readonly Backup[], newest: number, days: number): string[] {
  return expiredBackups(backups, { newest, days }, NOW).map(({ path }) => path);
}

it('keeps the newest ones', () => {
  const backups = backupsOf(9, 8, 7);
  expect(expired(backups, 1, 0)).toEqual(['9', '8']);
  expect(expired(backups, 2, 0)).toEqual(['9']);
  expect(expired(backups, 3, 0)).toEqual([]);
  expect(expired([], 3, 0)).toEqual([]);
});

it('keeps the newest one of each of so many days as well', () => {
  const backups = backupsOf(80, 73, 50, 49, 30, 25, 23, 1);
  expect(expired(backups, 1, 1)).toEqual(['80', '73', '50', '49', '30', '25', '23']);
  expect(expired(backups, 1, 2)).toEqual(['80', '73', '50', '49', '30', '23']);
  expect(expired(backups, 1, 4)).toEqual(['80', '50', '30', '23']);
  expect(expired(backups, 2, 4)).toEqual(['80', '50', '30']);
});

it('the exact end of a day belongs to the day before', () => {
  const backups = backupsOf(24, 23.999);
  expect(expired(backups, 1, 1)).toEqual(['24']);
  expect(expired(backups, 1, 2)).toEqual([]);
});

it('keeps the new backups of an ensemble that was made anew, whose zxids are lower', () => {
  const [old, older, anew] = backupsOf(30, 40, 1);
  if (old === undefined || older === undefined || anew === undefined) throw new Error('three');
  expect(expired([{ ...anew, zxid: 0n }, older, old], 1, 0)).toEqual(['40', '30']);
});

it('a backup that a clock dated ten years ahead takes the place of no newer one', () => {
  const ahead = -10 * 365 * 24;
  const backups = backupsOf(3, 2, ahead, 1);
  expect(expired(backups, 1, 0)).toEqual(['3', '2']);
  expect(expired(backups, 2, 0)).toEqual(['3']);
});

it('a backup that is written while the clock is days behind stays', () => {
  const backups = backupsOf(-50, -49, 0.1);
  expect(expired(backups, 1, 0)).toEqual(['-49']);
});
