/**
 * Removes files, and directories of files, little by little, one after the other.
 *
 * To give many blocks back at once stands in everybody's way: where the file system is mounted with
 * `discard` it tells the device, and every sync of every file waits meanwhile (ext4, 20 MB: 40 ms,
 * and syncs of 20 to 30 instead of 0.1). So large files are cut off from their ends, each cut is
 * synced (a file system with a journal would else save them up for one commit), and a pause comes
 * after it. Knows nothing of what it removes; what a crash leaves, its owner brings again.
 */
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Background } from './background.js';

export interface TrashPace {
  readonly cutBytes: number;
  /** After a cut, or as long as it has taken. */
  readonly pauseMs: number;
  /** With more than so many waiting there are no pauses: disks are to be freed, too. */
  readonly unhurriedMax: number;
  /** With more than so many they go as they are: nothing frees a disk faster. */
  readonly cutMax: number;
}

/** At most 50 MB a second while it is not in a hurry. */
export const TRASH_PACE: TrashPace = {
  cutBytes: 1 << 20,
  pauseMs: 20,
  unhurriedMax: 3,
  cutMax: 6,
};

export class Trash {
  private readonly pace: TrashPace;
  private readonly background = new Background();
  /** Aborted once there is no time left. */
  private readonly hurry = new AbortController();
  private waiting = 0;

  constructor(pace: TrashPace = TRASH_PACE) {
    this.pace = pace;
  }

  /** Removes it in background. Throws the failure of an earlier removal. */
  add(path: string): void {
    this.background.check();
    this.waiting += 1;
    this.background.run(async () => {
      // Only for the sake of others: what cannot be cut is removed as it is.
      await this.shrink(path).catch(() => undefined);
      await rm(path, { recursive: true, force: true });
      this.waiting -= 1;
    });
  }

  /** Removes what is left, at once; throws what has failed. */
  async empty(): Promise<void> {
    this.hurry.abort();
    await this.background.idle();
  }

  private async shrink(path: string): Promise<void> {
    if (!(await lstat(path)).isDirectory()) return await this.cut(path);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isFile()) await this.cut(join(path, entry.name));
    }
  }

  private async cut(path: string): Promise<void> {
    const file = await open(path, 'r+');
    try {
      const { size, nlink } = await file.stat();
      // Somebody's copy is the same file.
      if (nlink > 1) return;
      const { cutBytes } = this.pace;
      for (let left = size - cutBytes; left > 0 && this.mayCut; left -= cutBytes) {
        const began = performance.now();
        await file.truncate(left);
        await file.sync();
        await this.rest(performance.now() - began);
      }
    } finally {
      await file.close();
    }
  }

  private get mayCut(): boolean {
    return this.waiting <= this.pace.cutMax && !this.hurry.signal.aborted;
  }

  private async rest(tookMs: number): Promise<void> {
    const { pauseMs, unhurriedMax } = this.pace;
    if (this.waiting > unhurriedMax) return;
    const { signal } = this.hurry;
    await sleep(Math.max(pauseMs, tookMs), undefined, { signal }).catch(() => undefined);
  }
}
