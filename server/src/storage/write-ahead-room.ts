/**
 * Gives the write-ahead file of a LevelDB database its size, full of zeros, before it is written.
 *
 * The sync of a file that grows commits the file system's journal too, one commit after the other
 * for all who sync; one that only overwrites goes to the device at once. Zeros are what LevelDB
 * takes for the end of what was written, and the scan before an opening does as well. Never called
 * while a batch may be under way: LevelDB writes at a position of its own. Called by the store.
 */
import { open as openFile, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isFull } from './level-errors.js';

const LOG_FILE = /^\d+\.log$/;
/** Little at a time: others sync in between. */
const CHUNK_BYTES = 512 * 1024;
const ZEROS = new Uint8Array(CHUNK_BYTES);
/** So that what others write meanwhile finds room. */
const SPARE_BYTES = 16 << 20;

/**
 * The newest write-ahead file of the database at `path` has `bytes` of zeros more behind what is
 * in it; durable when resolved. On a disk that has no room to spare it stays as it is.
 */
export async function makeRoom(path: string, bytes: number): Promise<void> {
  const numberOf = (name: string): number => Number.parseInt(name, 10);
  const files = (await readdir(path)).filter((name) => LOG_FILE.test(name));
  const name = files.sort((a, b) => numberOf(a) - numberOf(b)).at(-1);
  // Windows lets nobody but LevelDB write there.
  if (name === undefined || process.platform === 'win32') return;
  if ((await freeBytes(path)) < SPARE_BYTES + bytes) return;
  const file = await openFile(join(path, name), 'r+');
  try {
    const { size } = await file.stat();
    try {
      await writeZeros(file, size, size + bytes);
    } catch (error) {
      if (!isFull(error)) throw error;
      await file.truncate(size);
    }
  } finally {
    await file.close();
  }
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

async function writeZeros(
  file: Awaited<ReturnType<typeof openFile>>,
  start: number,
  end: number,
): Promise<void> {
  for (let at = start; at < end; ) {
    const { bytesWritten } = await file.write(ZEROS, 0, Math.min(CHUNK_BYTES, end - at), at);
    await file.datasync();
    at += bytesWritten;
  }
}
