/**
 * Goal: a log whose newest part is gone is known to be damaged once it was quiet, whatever is left
 * of it, and is never taken for one that was torn by a crash.
 * Method: what a copy of the log from before would hold, and logs that were cut off on purpose.
 */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { RecordReader } from './log-record.js';
import { RECORDS_START, readHeader } from './log-segment.js';
import { MemoryLogDirectory } from './memory-log.js';
import { MemoryStore } from './memory-store.js';
import { openToy, proposalsAfter, seededRandom } from './testing.js';

const LOG = '0-0.log';
const ONE_SEGMENT = { segmentBytesMax: 1 << 20, groupBytesMax: 40 };

class Disk {
  treeStore = new MemoryStore();
  logFiles = new MemoryLogDirectory();

  crash(): void {
    const random = seededRandom(7);
    this.treeStore = this.treeStore.crash(random);
    this.logFiles = this.logFiles.crash(random);
  }

  /** The log as a copy of it has it that was taken when it held `count` proposals. */
  async restoreLogAt(count: number): Promise<void> {
    const bytes = this.logFiles.bytesOf(LOG);
    const file = await this.logFiles.open(LOG);
    const header = await readHeader(file, LOG);
    const reader = new RecordReader(file, { salt: header?.salt ?? '', from: RECORDS_START });
    for (let read = 0; read < count; read++) await reader.next();
    await file.close();
    this.logFiles.tamper(LOG, () => Uint8Array.from(bytes).fill(0, reader.position));
  }
}

async function written(disk: Disk, count: number) {
  const opened = await openToy(disk, ONE_SEGMENT);
  await opened.storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  for (let counter = 1; counter <= count; counter++) {
    const at = { epoch: 1, counter, count: 1 };
    await opened.storage.append(proposalsAfter(opened.storage.last, at));
  }
  return opened;
}

describe('a log that ends before where it was', () => {
  it.each([0, 5, 9])('when it was quiet is damaged with %d of 10 left', async (left) => {
    const disk = new Disk();
    const { storage } = await written(disk, 10);
    await storage.markLogEnd();
    disk.crash();
    await disk.restoreLogAt(left);
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
    await disk.restoreLogAt(6);
    expect((await openToy(disk, ONE_SEGMENT)).recovered.damaged).toMatch(/newest part is missing/);
  });

  it('is sound when it was never quiet: that is how a crash leaves it', async () => {
    const disk = new Disk();
    await written(disk, 10);
    disk.crash();
    await disk.restoreLogAt(9);
    const { recovered } = await openToy(disk, ONE_SEGMENT);
    expect(recovered.damaged).toBe(null);
    expect(recovered.last).toBe(makeZxid(1, 9));
  });

  it('is sound after a truncation, wherever that was interrupted', async () => {
    for (let change = 1; change <= 5; change++) {
      for (const when of ['before', 'after'] as const) {
        const disk = new Disk();
        const { storage } = await written(disk, 10);
        await storage.markLogEnd();
        disk.treeStore.failAt(disk.treeStore.changeCount + change, when);
        disk.logFiles.failAt(disk.logFiles.changeCount + Math.max(1, change - 2), when);
        await storage.truncate(makeZxid(1, 4)).catch(() => undefined);
        disk.crash();
        const { recovered } = await openToy(disk, ONE_SEGMENT);
        expect(recovered.damaged, `${when} change ${change}`).toBe(null);
      }
    }
  });
});
