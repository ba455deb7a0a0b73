/**
 * How much disk a member's directories take, measured now and then, for the four-letter words.
 *
 * Never in anybody's way. How bytes are counted comes from outside.
 */
import type { Timer, Timers } from '../net/timers.js';

/** Bytes of all files below a directory; what cannot be read counts as nothing. */
export type MeasureBytes = (directory: string) => Promise<number>;

/** Time between two measurements, ms. */
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
