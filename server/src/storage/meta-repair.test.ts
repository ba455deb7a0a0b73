/**
 * Goal: a running member finds damage of its meta database and replaces the database, and no crash
 * meanwhile lets it forget an epoch without being known as damaged.
 * Method: real files with a byte flipped; and stores in memory that die at each change.
 */
import { closeSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { openToy, proposalsAfter, seededRandom } from '../simulated/storage/toy-state.js';
import { DamagedError } from './errors.js';
import type { KeyValueStore } from './key-value.js';
import type { LogDirectory } from './log-files.js';
import type { Storage } from './storage.js';
import { openStores } from './stores.js';

const EPOCHS = { accepted: 3, current: 2, ensembleId: 'e', founded: true };

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-meta-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** The storage of a member that has promised an epoch and logged something. */
async function served(stores: { treeStore: KeyValueStore; logFiles: LogDirectory }) {
  const { storage } = await openToy(stores);
  await storage.saveEpochs(EPOCHS);
  await storage.append([proposalsAfter(storage.last, { epoch: 2, counter: 1, count: 3 })]);
  await storage.markLogEnd();
  return storage;
}

function onFiles() {
  return openStores({ dataDir: directory, dataLogDir: directory, memberId: 1 });
}

/** Flips bit 0 of this byte of the file of `meta` whose name matches. */
function flip(pattern: RegExp, at: number): void {
  const meta = join(directory, '1', 'tree', 'meta');
  const name = readdirSync(meta).find((one) => pattern.test(one));
  const file = openSync(join(meta, name ?? 'missing'), 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  writeSync(file, Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, at);
  closeSync(file);
}

describe('damage of meta while its member runs', () => {
  it.each([
    ['the write-ahead file', /^\d+\.log$/, 60],
    ['the manifest', /^MANIFEST/, 10],
    ['CURRENT', /^CURRENT$/, 2],
  ] as const)('in %s is found and repaired, and changes go on meanwhile', async (_, file, at) => {
    const storage = await served(await onFiles());
    await storage.scrubMeta();
    flip(file, at);
    await expect(storage.scrubMeta()).rejects.toThrow(DamagedError);
    await Promise.all([storage.repairMeta(), storage.saveEpochs({ ...EPOCHS, current: 3 })]);
    await storage.scrubMeta();
    const { last } = storage;
    await storage.close();
    const { recovered, storage: next } = await openToy(await onFiles());
    expect(recovered).toMatchObject({ ...identity(3), last, damaged: null });
    await next.close();
  });

  it('loses no promise, whenever a crash interrupts the repair', async () => {
    const seen = { sound: 0, damaged: 0 };
    for (let at = 1; ; at++) {
      const disk = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
      const storage = await served(disk);
      disk.treeStore.tamper('meta', (entries) => entries.delete('meta'));
      await expect(storage.scrubMeta()).rejects.toThrow(DamagedError);
      const before = disk.treeStore.changeCount;
      disk.treeStore.failAt(before + at, at % 2 === 0 ? 'before' : 'after');
      const isWhole = await ended(storage);
      const next = {
        treeStore: disk.treeStore.crash(seededRandom(at)),
        logFiles: disk.logFiles.crash(seededRandom(at)),
      };
      const { recovered } = await openToy(next);
      if (recovered.damaged === null) {
        seen.sound += 1;
        expect(recovered).toMatchObject(identity(2));
      } else {
        seen.damaged += 1;
      }
      if (!isWhole) continue;
      expect(recovered.damaged).toBe(null);
      break;
    }
    expect(seen.sound).toBeGreaterThan(1);
    expect(seen.damaged).toBeGreaterThan(0);
  });
});

function identity(currentEpoch: number) {
  return { acceptedEpoch: 3, currentEpoch, ensembleId: 'e', founded: true };
}

/** Whether the repair came to its end. */
async function ended(storage: Storage): Promise<boolean> {
  try {
    await storage.repairMeta();
    return true;
  } catch {
    // The store has died.
    return false;
  }
}
