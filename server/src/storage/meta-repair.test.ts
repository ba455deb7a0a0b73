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
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import type { KnownRecord } from './contract.js';
import { DamagedError } from './errors.js';
import type { KeyValueStore, LogDirectory } from './key-value.js';
import type { Storage } from './storage.js';
import { openStores } from './stores.js';

const EPOCHS = { accepted: 3, current: 2, ensembleId: 'e', founded: true };

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-meta-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** The storage of a member that has promised an epoch and logged `count` proposals. */
async function served(stores: { treeStore: KeyValueStore; logFiles: LogDirectory }, count = 3) {
  const { storage } = await openToy(stores);
  await storage.saveEpochs(EPOCHS);
  if (count > 0) {
    await storage.append([proposalsAfter(storage.last, { epoch: 2, counter: 1, count })]);
  }
  await storage.markLogEnd();
  return storage;
}

/** The record of identity and epochs, as the scrub has it. */
function metaOf(storage: Storage): KnownRecord {
  const [meta] = storage.known.slice(-1);
  if (meta === undefined) throw new Error('there is always one');
  return meta;
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
    await metaOf(storage).check();
    flip(file, at);
    await expect(metaOf(storage).check()).rejects.toThrow(DamagedError);
    await Promise.all([metaOf(storage).writeAnew(), storage.saveEpochs({ ...EPOCHS, current: 3 })]);
    await metaOf(storage).check();
    const { last } = storage;
    await storage.close();
    const { recovered, storage: next } = await openToy(await onFiles());
    expect(recovered).toMatchObject({ ...identity(3), last, damaged: null });
    await next.close();
  });

  it.each([3, 0])(
    'loses no promise, whenever a crash interrupts the repair (%i logged)',
    async (count) => {
      const seen = { sound: 0, damaged: 0 };
      for (let at = 1; ; at++) {
        const disk = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
        const storage = await served(disk, count);
        disk.treeStore.tamper('meta', (entries) => entries.delete('meta'));
        await expect(metaOf(storage).check()).rejects.toThrow(DamagedError);
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
    },
  );
});

function identity(currentEpoch: number) {
  return { acceptedEpoch: 3, currentEpoch, ensembleId: 'e', founded: true };
}

/** Whether the repair came to its end. */
async function ended(storage: Storage): Promise<boolean> {
  try {
    await metaOf(storage).writeAnew();
    return true;
  } catch {
    // The store has died.
    return false;
  }
}
