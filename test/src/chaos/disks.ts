/**
 * Damages a member's disk. `fill`, `fillToReserve` and `flip` also work while the member runs, the
 * others do not.
 *
 * It damages the files of the log and of the databases. It leaves alone the text log of LevelDB
 * (LOG), locks, spare files, and member.json, whose loss an operator has to repair. It flips bits
 * in the first half of a file only, because a flipped bit in the last record looks like a torn
 * write.
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
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { defaultReserve } from '../simulated.js';
import type { Random } from '../simulation/random.js';

const FILLER = 'filler';
const CHUNK_BYTES = 1024 * 1024;
/** A smaller file of records may hold a single record. */
const FLIPPED_LOG_BYTES_MIN = 8 * 1024;
const DATA_FILE = /(?:^|\/)(?:\d+\.(?:log|ldb)|\d+-\d+\.log|values-\d+|MANIFEST-\d+|CURRENT)$/;

/** Uses all the space that is left. */
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

/**
 * Uses all the space but a share of the default reserve of such a disk. Returns what is left, in
 * bytes; a disk that has less already stays as it is.
 */
export async function fillToReserve(directory: string, share: number): Promise<number> {
  const { blocks, bsize, bavail } = await statfs(directory);
  const freeBytes = bavail * bsize;
  const leftBytes = Math.floor(share * defaultReserve(blocks * bsize));
  if (freeBytes <= leftBytes) return freeBytes;
  const file = await open(join(directory, FILLER), 'a');
  try {
    const zeros = Buffer.alloc(CHUNK_BYTES);
    for (let bytes = freeBytes - leftBytes; bytes > 0; bytes -= CHUNK_BYTES) {
      if (!(await tryWrite(file, zeros.subarray(0, bytes)))) break;
    }
  } finally {
    await file.close();
  }
  return leftBytes;
}

async function tryWrite(file: FileHandle, chunk: Buffer): Promise<boolean> {
  try {
    return (await file.write(chunk)).bytesWritten > 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

/** Frees the space that `fill` used. */
export function free(directory: string): void {
  rmSync(join(directory, FILLER), { force: true });
}

/** Removes everything, as if the disk had been replaced by a new one. */
export function wipe(directory: string): void {
  for (const name of readdirSync(directory)) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Flips one bit of one file. Returns which one, or null if there is nothing to flip. */
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

/** Cuts the tail off one file. Returns which one, or null if there is nothing to cut. */
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

/**
 * Mostly chooses by size, as the damage of a disk does; but also small files, because everything
 * else depends on them.
 */
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

/** Returns the files in the order of their names, so that the same choice hits the same file. */
export function dataFiles(directory: string): DataFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => DATA_FILE.test(name))
    .sort()
    .map((name) => join(directory, name))
    .flatMap((path) => {
      // A member that runs may have removed it meanwhile.
      const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size;
      return sizeBytes === undefined ? [] : [{ path, sizeBytes }];
    });
}
