/**
 * Tests the damage of disks on directories that are laid out as a member's.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Random } from '../simulation/random.js';
import { dataFiles, fillToReserve, flip, truncate, wipe } from './disks.js';

const LOG_BYTES = 10_000;
const FILES = {
  'member.json': 200,
  'tree/meta/CURRENT': 16,
  'tree/meta/LOG': 500,
  'tree/tree-1/000005.ldb': 3_000,
  'tree/tree-1/MANIFEST-000002': 300,
  'tree/tree-1/values-3': 3_000,
  'log/1-1.log': LOG_BYTES,
  'log/1-2.log': 1_000,
  'log/spare-1': LOG_BYTES,
  'tree/meta/000003.log': 1_000,
  'log/lock': 0,
};
const STRUCK = [
  'log/1-1.log',
  'tree/meta/CURRENT',
  'tree/tree-1/000005.ldb',
  'tree/tree-1/MANIFEST-000002',
  'tree/tree-1/values-3',
];

it('one bit is flipped, in the first half of a file of a database or of the log', () => {
  const struck = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const directory = newDisk();
    const said = flip(directory, new Random(seed));
    const changed = changedFiles(directory);
    expect(changed, `seed ${seed}`).toHaveLength(1);
    const [{ name, bytes, sizeBytes } = { name: '', bytes: [], sizeBytes: 0 }] = changed;
    expect(said).toContain(name);
    expect(sizeBytes).toBe(sizeOf(name));
    expect(bytes).toHaveLength(1);
    expect(bytes[0]?.at).toBeLessThan(sizeOf(name) / 2);
    expect([1, 2, 4, 8, 16, 32, 64, 128]).toContain(bytes[0]?.value);
    struck.add(name);
  }
  // Neither text logs, locks, spare files and member.json, nor a log with perhaps a single record.
  expect([...struck].sort()).toEqual(STRUCK);
});

it('one file of a database or of the log is cut, and stays a beginning of what it was', () => {
  const struck = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const directory = newDisk();
    const said = truncate(directory, new Random(seed));
    const [{ name, bytes, sizeBytes } = { name: '', bytes: [], sizeBytes: 0 }, ...more] =
      changedFiles(directory);
    expect(more).toEqual([]);
    expect(said).toContain(name);
    expect(bytes).toEqual([]);
    expect(sizeBytes).toBeLessThan(sizeOf(name));
    struck.add(name);
  }
  expect([...struck].sort()).toEqual([...STRUCK, 'log/1-2.log', 'tree/meta/000003.log'].sort());
});

it('a wiped disk is empty and has nothing to flip or to cut', () => {
  const directory = newDisk();
  wipe(directory);
  expect(readdirSync(directory)).toEqual([]);
  expect(flip(directory, new Random(1))).toBeNull();
  expect(truncate(directory, new Random(1))).toBeNull();
  expect(dataFiles(directory)).toEqual([]);
});

function newDisk(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-chaos-disk-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, sizeBytes] of Object.entries(FILES)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), Buffer.alloc(sizeBytes));
  }
  return directory;
}

function changedFiles(directory: string) {
  return Object.entries(FILES).flatMap(([name, sizeBytes]) => {
    const content = readFileSync(join(directory, name));
    const bytes = [...content.entries()]
      .filter(([, value]) => value !== 0)
      .map(([at, value]) => ({ at, value }));
    const isChanged = content.length !== sizeBytes || bytes.length > 0;
    return isChanged ? [{ name, bytes, sizeBytes: content.length }] : [];
  });
}

function sizeOf(name: string): number {
  return Object.entries(FILES).find(([candidate]) => candidate === name)?.[1] ?? 0;
}

it('a disk that has less free than asked for is not filled further', async () => {
  const directory = newDisk();
  const before = readdirSync(directory);
  expect(await fillToReserve(directory, Number.MAX_SAFE_INTEGER)).toBeGreaterThan(0);
  expect(readdirSync(directory)).toEqual(before);
});
