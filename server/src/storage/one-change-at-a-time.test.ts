/**
 * Goal: storage is changed by one call at a time, and by none after a failure, because nobody knows
 * then what is on the disk. Method: a disk that refuses one change and works again.
 */
import { makeZxid, type ProposalBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import { StorageFault } from './errors.js';
import type { Storage } from './storage.js';

const EPOCHS = { accepted: 1, current: 1, ensembleId: 'e', founded: true };
const REFUSED = 'refused once';

/** The files of a log, whose next change of the file `refused` fails, and no other one. */
class Disk {
  refused: string | null = null;
  readonly treeStore = new MemoryStore();
  readonly logFiles = new MemoryLogDirectory({
    gate: async ({ name }) => {
      if (name !== this.refused) return;
      this.refused = null;
      throw new StorageFault('input/output', REFUSED, null);
    },
  });
}

/** The batch of one proposal that has this counter. */
function batch(counter: number): ProposalBatch {
  const previous = counter === 1 ? 0 : makeZxid(1, counter - 1);
  return proposalsAfter(previous, { epoch: 1, counter, count: 1 });
}

/** A snapshot is installed, and the one file of the former log cannot be removed. */
async function installedWithoutRemoval(disk: Disk): Promise<Storage> {
  const donor = await openToy({
    treeStore: new MemoryStore(),
    logFiles: new MemoryLogDirectory(),
  });
  const { storage } = await openToy(disk);
  await donor.storage.saveEpochs(EPOCHS);
  await donor.storage.append([batch(1)]);
  donor.storage.beginCheckpoint(makeZxid(1, 1));
  await donor.storage.writeCheckpoint([], { zxid: makeZxid(1, 1), lastTime: 1, digest: '' });
  const source = await donor.storage.openSnapshot();
  const sink = await storage.beginSnapshot();
  for await (const records of source.records()) await sink.write(records);
  disk.refused = '0-0.log';
  await storage.installSnapshot(source.zxid);
  return storage;
}

describe('storage', () => {
  it('is changed by one call at a time', async () => {
    const { storage } = await openToy(new Disk());
    const first = storage.append([batch(1)]);
    const changes = [
      storage.append([batch(1)]),
      storage.truncate(0),
      storage.markLogEnd(),
      storage.saveEpochs(EPOCHS),
      storage.giveUp('an old copy'),
    ];
    for (const change of changes) await expect(change).rejects.toThrow('one call at a time');
    await first;
    await storage.append([batch(2)]);
    expect(storage.last).toBe(makeZxid(1, 2));
    await storage.saveEpochs(EPOCHS);
  });

  it('is not changed after an append that failed', async () => {
    const disk = new Disk();
    const { storage } = await openToy(disk);
    await storage.append([batch(1)]);
    disk.refused = '0-0.log';
    await expect(storage.append([batch(2)])).rejects.toThrow(REFUSED);
    const changes = [
      storage.append([batch(2)]),
      storage.truncate(0),
      storage.markLogEnd(),
      storage.saveEpochs(EPOCHS),
      storage.giveUp('an old copy'),
    ];
    for (const change of changes) await expect(change).rejects.toThrow('none after a failure');
    expect(storage.last).toBe(makeZxid(1, 1));
  });

  it('is not changed after an old file could not be removed in the background', async () => {
    const storage = await installedWithoutRemoval(new Disk());
    await expect(storage.idle()).rejects.toThrow(REFUSED);
    await storage.beginSnapshot();
    const changes = [
      storage.append([batch(2)]),
      storage.truncate(storage.last),
      storage.saveEpochs(EPOCHS),
      storage.giveUp('an old copy'),
      storage.installSnapshot(storage.last),
    ];
    for (const change of changes) await expect(change).rejects.toThrow(REFUSED);
  });
});
