/**
 * Measures disk usage and free space of a member's directories, for reports and bounds. Never
 * fails: what cannot be read counts as nothing or is null.
 */
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Space } from '../driver/write-bounds.js';
import type { Timer, Timers } from '../net/timers.js';

/** What cannot be read counts as nothing. */
export async function directoryBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(
    () => [],
  );
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = await stat(join(entry.parentPath, entry.name)).catch(() => null);
    bytes += file?.size ?? 0;
  }
  return bytes;
}

/**
 * How much of a file system is free, as this machine says. Never fails, and changes nothing: what
 * is not known is null.
 *
 * Returns the space of the file system that the directory is in.
 */
export async function spaceOf(directory: string): Promise<Space | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}

/** Returns the bytes of all files below a directory; unreadable files count as 0. */
export type MeasureBytes = (directory: string) => Promise<number>;

/** The time between two measurements, in ms. */
const MEASURE_MS = 30_000;

/**
 * Measures from time to time how much disk a member's directories take, for the four-letter words.
 *
 * Nothing waits for a measurement. The function that counts bytes is an argument.
 */
export class DiskUsage {
  data = 0;
  log = 0;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(
    timers: Timers,
    directories: { readonly data: string; readonly log: string },
    bytesOf: MeasureBytes,
  ) {
    const measure = async () => {
      const data = await bytesOf(directories.data);
      const shared = directories.log === directories.data;
      this.log = shared ? data : await bytesOf(directories.log);
      this.data = data;
      if (!this.#stopped) this.#timer = timers.after(MEASURE_MS, () => void measure());
    };
    void measure();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }
}
