/**
 * Goal: a log whose newest part is gone is known to be damaged if it ends before its mark, whatever
 * is left of it, and is never taken for one that was torn by a crash.
 * Method: what a copy of the log from before would hold, and logs that were cut off on purpose.
 */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import type { Storage } from './storage.js';

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

  /** The offset at which the log ended when it held `count` proposals. */
  endAt(count: number): number {
    return (this.copies[count] ?? []).findLastIndex((byte) => byte !== 0) + 1;
  }

  /** The log as a copy of it has it that was taken when it held `count` proposals. */
  restoreLogAt(count: number): void {
    this.logFiles.tamper(LOG, () => this.copies[count] ?? new Uint8Array(0));
  }
}

/** A log of this many proposals; `onWritten` is called after each. */
async function written(
  disk: Disk,
  count: number,
  onWritten: (storage: Storage, counter: number) => void = () => {},
) {
  const opened = await openToy(disk, ONE_SEGMENT);
  await opened.storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  disk.copies.push(disk.logFiles.bytesOf(LOG));
  for (let counter = 1; counter <= count; counter++) {
    const at = { epoch: 1, counter, count: 1 };
    await opened.storage.append([proposalsAfter(opened.storage.last, at)]);
    disk.copies.push(disk.logFiles.bytesOf(LOG));
    onWritten(opened.storage, counter);
  }
  return opened;
}

/** The log has gone on while its mark at 6 of 10 was written. */
async function markedUnderLoad(): Promise<Disk> {
  const disk = new Disk();
  const marks: Promise<void>[] = [];
  await written(disk, 10, (storage, counter) => {
    if (counter === 6) marks.push(storage.markLogEnd());
  });
  expect(await Promise.all(marks)).toHaveLength(1);
  disk.crash();
  return disk;
}

describe('a log that ends before where it was', () => {
  it.each([0, 5, 9])('when it was marked is damaged with %d of 10 left', async (left) => {
    const disk = new Disk();
    const { storage } = await written(disk, 10);
    await storage.markLogEnd();
    disk.crash();
    disk.restoreLogAt(left);
    const { recovered } = await openToy(disk, ONE_SEGMENT);
    expect(recovered.damaged).toMatch(/newest part is damaged or missing/);
  });

  it('is damaged, too, when it was marked in an earlier life and only read since', async () => {
    const disk = new Disk();
    await written(disk, 10);
    disk.crash();
    const second = await openToy(disk, ONE_SEGMENT);
    await second.storage.markLogEnd();
    disk.crash();
    disk.restoreLogAt(6);
    expect((await openToy(disk, ONE_SEGMENT)).recovered.damaged).toMatch(
      /newest part is damaged or missing/,
    );
  });

  it.each([0, 3, 5])('is damaged with %d of 10 left if 6 were marked under load', async (left) => {
    const disk = await markedUnderLoad();
    disk.restoreLogAt(left);
    const { recovered } = await openToy(disk, ONE_SEGMENT);
    expect(recovered.damaged).toMatch(/newest part is damaged or missing/);
  });

  it.each([6, 7, 9, 10])('is sound with %d of 10 left if 6 were marked', async (left) => {
    const disk = await markedUnderLoad();
    disk.restoreLogAt(left);
    const { recovered } = await openToy(disk, ONE_SEGMENT);
    expect(recovered.damaged).toBe(null);
    expect(recovered.last).toBe(makeZxid(1, left));
  });

  it('is damaged by a flipped bit in what was marked last, and nothing follows', async () => {
    const disk = await markedUnderLoad();
    const [from, end] = [disk.endAt(5), disk.endAt(6)];
    expect(end).toBeGreaterThan(from);
    for (let at = from; at < end; at++) {
      const other = new Disk();
      other.treeStore = disk.treeStore.crash(() => 0);
      other.logFiles = disk.logFiles.crash(() => 0);
      other.copies.push(...disk.copies);
      other.restoreLogAt(6);
      other.logFiles.tamper(LOG, (bytes) => bytes.fill((bytes[at] ?? 0) ^ 0x10, at, at + 1));
      const { recovered } = await openToy(other, ONE_SEGMENT);
      if (recovered.damaged === null) expect(recovered.last, `byte ${at}`).toBe(makeZxid(1, 6));
      else expect(recovered.damaged).toMatch(/newest part is damaged or missing/);
    }
  });

  it('is sound when it was never marked: that is how a crash leaves it', async () => {
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
