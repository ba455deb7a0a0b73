/**
 * How much disk a member's directories take, measured now and then, for the four-letter words.
 *
 * Never in anybody's way: what cannot be read counts as nothing.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Timer, Timers } from '../net/timers.js';

/** Bytes of all files below `directory`. */
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

/** Time between two measurements, ms. */
const MEASURE_MS = 30_000;

export class DiskUsage {
  data = 0;
  log = 0;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(timers: Timers, directories: { readonly data: string; readonly log: string }) {
    const measure = async () => {
      const data = await directoryBytes(directories.data);
      const shared = directories.log === directories.data;
      this.log = shared ? data : await directoryBytes(directories.log);
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
