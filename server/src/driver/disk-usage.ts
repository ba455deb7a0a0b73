/**
 * Measures from time to time how much disk a member's directories take, for the four-letter words.
 *
 * Nothing waits for a measurement. The function that counts bytes is an argument.
 */
import type { Timer, Timers } from '../net/timers.js';

/** Returns the bytes of all files below a directory; unreadable files count as 0. */
export type MeasureBytes = (directory: string) => Promise<number>;

/** The time between two measurements, in ms. */
const MEASURE_MS = 30_000;

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
