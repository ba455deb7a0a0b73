/**
 * What can befall a member's disk while the member is down, or (only `fill`) while it runs.
 *
 * Knows which files are the log's and the databases' own; leaves alone LevelDB's notes to people
 * (LOG), locks, spare files, and member.json, whose loss is the operator's to mend. Bits are
 * flipped in the first half of a file only, mostly not in its last record, which nobody can tell
 * from a torn write.
 */
import {
  closeSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Random } from '../simulation/random.js';

const FILLER = 'filler';
const CHUNK_BYTES = 1024 * 1024;
/** Below this a file of records may hold a single one. */
const FLIPPED_LOG_BYTES_MIN = 8 * 1024;
const DATA_FILE = /(?:^|\/)(?:\d+\.(?:log|ldb)|\d+-\d+\.log|MANIFEST-\d+|CURRENT)$/;

/** Takes all the room that is left. */
export async function fill(directory: string): Promise<void> {
  const file = await open(join(directory, FILLER), 'a');
  try {
    let chunk = Buffer.alloc(CHUNK_BYTES);
    while (chunk.length > 0) {
      if (!(await tryWrite(file, chunk))) chunk = chunk.subarray(0, Math.floor(chunk.length / 2));
    }
  } finally {
    await file.close();
  }
}

async function tryWrite(file: FileHandle, chunk: Buffer): Promise<boolean> {
  try {
    return (await file.write(chunk)).bytesWritten > 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

/** Gives back what `fill` took. */
export function free(directory: string): void {
  rmSync(join(directory, FILLER), { force: true });
}

/** Removes everything: a new disk. */
export function wipe(directory: string): void {
  for (const name of readdirSync(directory)) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Changes one bit of one file; says which, or null where there is nothing to flip. */
export function flip(directory: string, random: Random): string | null {
  const candidates = dataFiles(directory).filter(({ path, sizeBytes }) => {
    return sizeBytes >= (path.endsWith('.log') ? FLIPPED_LOG_BYTES_MIN : 2);
  });
  if (candidates.length === 0) return null;
  const { path, sizeBytes } = struckFile(candidates, random);
  const offset = random.below(Math.floor(sizeBytes / 2));
  const bit = random.below(8);
  const file = openSync(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    writeSync(file, Buffer.of((byte[0] ?? 0) ^ (1 << bit)), 0, 1, offset);
  } finally {
    closeSync(file);
  }
  return `bit ${bit} of byte ${offset} of ${sizeBytes} in ${relative(directory, path)}`;
}

/** Cuts the tail off one file; says which, or null where there is nothing to cut. */
export function truncate(directory: string, random: Random): string | null {
  const candidates = dataFiles(directory).filter(({ sizeBytes }) => sizeBytes > 1);
  if (candidates.length === 0) return null;
  const { path, sizeBytes } = struckFile(candidates, random);
  const left = random.below(sizeBytes);
  truncateSync(path, left);
  return `${relative(directory, path)} from ${sizeBytes} to ${left} bytes`;
}

interface DataFile {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Mostly as a disk would choose, by size; but small files are what everything else hangs on. */
function struckFile(files: readonly DataFile[], random: Random): DataFile {
  if (random.chance(1 / 3)) return random.pick(files);
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let at = random.below(bytes);
  const struck = files.find(({ sizeBytes }) => {
    at -= sizeBytes;
    return at < 0;
  });
  if (struck === undefined) throw new Error('the place is within one of the files');
  return struck;
}

/** In an order of their names, so that the same choice strikes the same file. */
export function dataFiles(directory: string): DataFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => DATA_FILE.test(name))
    .sort()
    .map((name) => join(directory, name))
    .map((path) => ({ path, sizeBytes: statSync(path).size }));
}
