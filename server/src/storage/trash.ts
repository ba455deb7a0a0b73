/**
 * Removes directories little by little, one after the other.
 *
 * To give many blocks back at once stands in everybody's way: the file system frees them in one
 * commit of its journal, tells the device where it is mounted with `discard`, and every sync of
 * every file waits meanwhile (ext4, 20 MB: 40 ms, and syncs of 20 to 30 instead of 0.1). So large
 * files are cut off from their ends, with a pause after each cut as long as it has taken. Knows
 * nothing of what it removes; what a crash leaves, its owner finds at the next start.
 */
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Background } from './background.js';

const CUT_BYTES = 1 << 20;
/** With more than so many directories waiting there are no pauses: disks are to be freed, too. */
const WAITING_MAX = 8;

export class Trash {
  private readonly background = new Background();
  private waiting = 0;
  private hurries = false;

  /** Removes it in background. Throws the failure of an earlier removal. */
  add(directory: string): void {
    this.background.check();
    this.waiting += 1;
    this.background.run(async () => {
      await this.shrink(directory);
      await rm(directory, { recursive: true, force: true });
      this.waiting -= 1;
    });
  }

  /** Removes what is left, at once; throws what has failed. */
  async empty(): Promise<void> {
    this.hurries = true;
    await this.background.idle();
  }

  private async shrink(directory: string): Promise<void> {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (entry.isFile()) await this.cut(join(directory, entry.name));
    }
  }

  private async cut(path: string): Promise<void> {
    const file = await open(path, 'r+');
    try {
      let { size } = await file.stat();
      while (size > CUT_BYTES && !this.hurries) {
        const began = performance.now();
        size -= CUT_BYTES;
        await file.truncate(size);
        if (this.waiting <= WAITING_MAX) await sleep(performance.now() - began);
      }
    } finally {
      await file.close();
    }
  }
}
