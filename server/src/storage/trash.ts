/**
 * Removes files, and directories of files, little by little, one after the other.
 *
 * Freeing many blocks at once delays everybody: where the file system is mounted with `discard` it
 * tells the device of them, and every sync of every file waits meanwhile (on ext4, freeing 20 MB
 * takes 40 ms, during which a sync takes 20 to 30 ms in place of 0.1 ms). So large files are cut
 * off from their ends, each cut is synced (a file system with a journal would else save them up for
 * one commit), and a pause comes after it. It knows nothing of what it removes. What a crash has
 * left is added again by its owner.
 */
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Background } from './background.js';

export interface TrashPace {
  readonly cutBytes: number;
  /** The pause after a cut, in ms; at least as long as the cut took. */
  readonly pauseMs: number;
  /** With more bytes waiting there are no pauses, because space must be freed, too. */
  readonly unhurriedMax: number;
  /** With more bytes waiting files are removed whole, which is the fastest way. */
  readonly cutMax: number;
}

/** The size of one cut, which makes at most 50 MB a second. */
export const TRASH_PACE: TrashPace = {
  cutBytes: 1 << 20,
  pauseMs: 20,
  unhurriedMax: 3,
  cutMax: 6,
};

export class Trash {
  readonly #pace: TrashPace;
  readonly #background = new Background();
  /** Aborted when there is no time left. */
  readonly #hurry = new AbortController();
  #waiting = 0;

  constructor(pace: TrashPace = TRASH_PACE) {
    this.#pace = pace;
  }

  /** Removes a path in background. Throws the failure of an earlier removal. */
  add(path: string): void {
    this.#background.check();
    this.#waiting += 1;
    this.#background.run(async () => {
      // Cutting only spares others, so what cannot be cut is removed as it is.
      await this.#shrink(path).catch(() => undefined);
      await rm(path, { recursive: true, force: true });
      this.#waiting -= 1;
    });
  }

  /** Removes the rest at once. Throws the failure of a removal. */
  async empty(): Promise<void> {
    this.#hurry.abort();
    await this.#background.idle();
  }

  async #shrink(path: string): Promise<void> {
    if (!(await lstat(path)).isDirectory()) return await this.#cut(path);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isFile()) await this.#cut(join(path, entry.name));
    }
  }

  async #cut(path: string): Promise<void> {
    const file = await open(path, 'r+');
    try {
      const { size, nlink } = await file.stat();
      // A second name means that somebody's copy is the same file.
      if (nlink > 1) return;
      const { cutBytes } = this.#pace;
      for (let left = size - cutBytes; left > 0 && this.#mayCut; left -= cutBytes) {
        const began = performance.now();
        await file.truncate(left);
        await file.sync();
        await this.#rest(performance.now() - began);
      }
    } finally {
      await file.close();
    }
  }

  get #mayCut(): boolean {
    return this.#waiting <= this.#pace.cutMax && !this.#hurry.signal.aborted;
  }

  async #rest(tookMs: number): Promise<void> {
    const { pauseMs, unhurriedMax } = this.#pace;
    if (this.#waiting > unhurriedMax) return;
    const { signal } = this.#hurry;
    await sleep(Math.max(pauseMs, tookMs), undefined, { signal }).catch(() => undefined);
  }
}
