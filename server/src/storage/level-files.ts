/**
 * Looks at the files of a LevelDB database before LevelDB opens it, and throws for what LevelDB
 * would pass over in silence.
 *
 * Opening rewrites: the write-ahead files become a table, what nothing names is deleted, and a
 * database without CURRENT becomes a new one. So damage must be found before. Never writes. Costs
 * one read of the write-ahead files: what was written since the last opening and is in no table.
 */
import { open as openFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codesOf, textOf } from './disk-errors.js';
import { DamagedError } from './errors.js';
import { guarded } from './level-errors.js';
import { checkTable } from './level-tables.js';
import { BLOCK_BYTES, batchBeginnings, WriteAheadScan } from './write-ahead-scan.js';

const READ_BYTES = 8 * BLOCK_BYTES;
const LOG_FILE = /^\d+\.log$/;
const TABLE_FILE = /^\d+\.(ldb|sst)$/;
const MANIFEST_FILE = /^MANIFEST-\d+$/;
const KEY_ORDER_TAG = 1;
const LOG_NUMBER_TAG = 2;
/** The files left by a creation that ended before it wrote CURRENT. */
const FIRST_MANIFEST = 'MANIFEST-000001';

/** Throws DamagedError or StorageFault. A database that is not there yet is sound. */
export async function checkFiles(path: string): Promise<void> {
  await checkNames(path);
  await readable(path, async () => {
    for (const file of await filesOf(path)) {
      if (LOG_FILE.test(file)) await scanFile(join(path, file));
    }
  });
}

/** Checks that CURRENT, its manifest and the files in the manifest exist and are whole. */
export async function checkNames(path: string): Promise<void> {
  await readable(path, async () => await checkManifest(path, await filesOf(path)));
}

/** The files for `checkFile`: those that `checkNames` does not read. */
export async function filesToCheck(path: string): Promise<readonly string[]> {
  const files = await readable(path, () => filesOf(path));
  return files.filter((file) => LOG_FILE.test(file) || TABLE_FILE.test(file));
}

/**
 * Checks a write-ahead file, or the parts of a table that LevelDB keeps in memory. Returns the
 * number of bytes read: 0 for a file that LevelDB has removed since it was listed.
 */
export async function checkFile(path: string, file: string): Promise<number> {
  try {
    return await readable(path, async () => {
      return LOG_FILE.test(file)
        ? await scanFile(join(path, file))
        : await checkTable(join(path, file));
    });
  } catch (error) {
    if (codesOf(error).includes('ENOENT')) return 0;
    throw error;
  }
}

/** Finds out whether damaged files are the reason why a database could not be opened. */
export async function isDamaged(path: string): Promise<boolean> {
  try {
    await checkFiles(path);
    return false;
  } catch (error) {
    if (error instanceof DamagedError) return true;
    throw error;
  }
}

/** Reports an unreadable sector as damage, as LevelDB's own reads do. */
async function readable<T>(path: string, action: () => Promise<T>): Promise<T> {
  return await guarded(path, async () => {
    try {
      return await action();
    } catch (error) {
      if (!codesOf(error).includes('EIO')) throw error;
      throw new DamagedError(`${path} cannot be read: ${textOf(error)}`, { cause: error });
    }
  });
}

async function filesOf(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (codesOf(error).includes('ENOENT')) return [];
    throw error;
  }
}

async function checkManifest(path: string, files: readonly string[]): Promise<void> {
  if (!files.includes('CURRENT')) {
    const rest = files.find(
      (file) =>
        LOG_FILE.test(file) ||
        TABLE_FILE.test(file) ||
        (MANIFEST_FILE.test(file) && file !== FIRST_MANIFEST),
    );
    if (rest === undefined) return;
    throw new DamagedError(`${path} is damaged: CURRENT is missing, but ${rest} is there`);
  }
  const manifest = (await readFile(join(path, 'CURRENT'), 'utf8')).trimEnd();
  if (!MANIFEST_FILE.test(manifest)) {
    throw new DamagedError(`${path} is damaged: CURRENT names no manifest`);
  }
  if (!files.includes(manifest)) {
    throw new DamagedError(`${path} is damaged: CURRENT names ${manifest}, which is missing`);
  }
  await scanFile(join(path, manifest));
  const logNumber = logNumberIn(await readFile(join(path, manifest)));
  // The number 0 is in a manifest whose database was never opened to its end.
  if (logNumber === 0) return;
  if (files.some((file) => LOG_FILE.test(file) && Number.parseInt(file, 10) === logNumber)) return;
  throw new DamagedError(
    `${path} is damaged: ${manifest} names the write-ahead file ${logNumber}, which is missing`,
  );
}

/**
 * The write-ahead file that the newest edit of a manifest names; 0 for none. An edit begins with
 * the name of the key order if it holds it, then the number: each a tag and a value.
 */
function logNumberIn(manifest: Uint8Array): number {
  let logNumber = 0;
  for (const edit of batchBeginnings(manifest)) {
    let at = 0;
    if (edit[at] === KEY_ORDER_TAG) at = 2 + (edit[1] ?? 0);
    if (edit[at] === LOG_NUMBER_TAG) logNumber = varint(edit, at + 1);
  }
  return logNumber;
}

/** Reads a varint: seven bits in each byte, the low ones first. */
function varint(bytes: Uint8Array, start: number): number {
  let value = 0;
  let scale = 1;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) break;
    scale *= 0x80;
  }
  return value;
}

/** Returns the number of bytes read. */
async function scanFile(path: string): Promise<number> {
  let readBytes = 0;
  const scan = new WriteAheadScan();
  const buffer = new Uint8Array(READ_BYTES);
  const file = await openFile(path, 'r');
  try {
    for (let length = READ_BYTES; length === READ_BYTES; ) {
      length = await fill(file, buffer);
      readBytes += length;
      for (let at = 0; at < length; at += BLOCK_BYTES) {
        const damage = scan.block(buffer.subarray(at, Math.min(at + BLOCK_BYTES, length)));
        if (damage === null) continue;
        const { offset, reason } = damage;
        throw new DamagedError(
          `${path} is damaged at byte ${offset}: ${reason}, and a later one is there`,
        );
      }
    }
    return readBytes;
  } finally {
    await file.close();
  }
}

/** Reads as much as there is and fits, in several reads if necessary. */
async function fill(
  file: Awaited<ReturnType<typeof openFile>>,
  buffer: Uint8Array,
): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}
