/**
 * Goal: a log whose newest part is gone is known to be damaged once it was quiet, whatever is left
 * of it, and is never taken for one that was torn by a crash.
 * Method: what a copy of the log from before would hold, and logs that were cut off on purpose.
 */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { openToy, proposalsAfter, seededRandom } from '../simulated/storage/toy-state.js';

const LOG = '0-0.log';
const ONE_SEGMENT = { segmentBytesMax: 1 << 20, recordBytesMax: 40 };

class Disk {
  treeStore = new MemoryStore();
  logFiles = new MemoryLogDirectory();
  /** Copies of the log, by how many proposals it held. */
  readonly copies: Uint8Array[] = [];

  crash(): void {
    const random = seededRandom(7);
    this.treeStore = this.treeStore.crash(random);
    this.logFiles = this.logFiles.crash(random);
  }

  /** The log as a copy of it has it that was taken when it held `count` proposals. */
  restoreLogAt(count: number): void {
    this.logFiles.tamper(LOG, () => this.copies[count] ?? new Uint8Array(0));
  }
}

async function written(disk: Disk, count: number) {
  const opened = await openToy(disk, ONE_SEGMENT);
  await opened.storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  disk.copies.push(disk.logFiles.bytesOf(LOG));
  for (let counter = 1; counter <= count; counter++) {
    const at = { epoch: 1, counter, count: 1 };
    await opened.storage.append([proposalsAfter(opened.storage.last, at)]);
    disk.copies.push(disk.logFiles.bytesOf(LOG));
  }
  return opened;
}

describe('a log that ends before where it was', () => {
  it.each([0, 5, 9])('when it was quiet is damaged with %d of 10 left', async (left) => {
    const disk = new Disk();
    const { storage } = await written(disk, 10);
    await storage.markLogEnd();
    disk.crash();
    disk.restoreLogAt(left);
    const { recovered } = await openToy(disk, ONE_SEGMENT);
    expect(recovered.damaged).toMatch(/newest part is missing/);
  });

  it('is damaged, too, when it was marked in an earlier life and only read since', async () => {
    const disk = new Disk();
    await written(disk, 10);
    disk.crash();
    const second = await openToy(disk, ONE_SEGMENT);
    await second.storage.markLogEnd();
    disk.crash();
    disk.restoreLogAt(6);
    expect((await openToy(disk, ONE_SEGMENT)).recovered.damaged).toMatch(/newest part is missing/);
  });

  it('is sound when it was never quiet: that is how a crash leaves it', async () => {
    const disk = new Disk();
    await written(disk, 10);
    disk.crash();
    disk.restoreLogAt(9);
    const { recovered } = await openToy(disk, ONE_SEGMENT);
    expect(recovered.damaged).toBe(null);
    expect(recovered.last).toBe(makeZxid(1, 9));
  });

  it('is sound after a truncation, wherever that was interrupted', async () => {
    let interrupted = 0;
    for (const which of ['treeStore', 'logFiles'] as const) {
      for (const when of ['before', 'after'] as const) {
        for (let change = 1, failed = true; failed; change++) {
          const disk = new Disk();
          const { storage } = await written(disk, 10);
          await storage.markLogEnd();
          disk[which].failAt(disk[which].changeCount + change, when);
          failed = await storage.truncate(makeZxid(1, 4)).then(
            () => false,
            () => true,
          );
          disk.crash();
          const { recovered } = await openToy(disk, ONE_SEGMENT);
          const title = `${which} change ${change}, ${when}`;
          expect(recovered.damaged, title).toBe(null);
          const ends = failed ? [4, 10] : [4];
          expect(
            ends.map((end) => makeZxid(1, end)),
            title,
          ).toContain(recovered.last);
          interrupted += failed ? 1 : 0;
        }
      }
    }
    // Both records of meta twice, a file and its header.
    expect(interrupted).toBeGreaterThanOrEqual(12);
  });
});
