/**
 * Goal: a member whose meta database can be read but no longer written starts as a damaged one.
 * LevelDB finds a flipped bit in an old block only when its compaction reads it, which is when
 * something is written. Method: a store whose meta database refuses every batch until it is made
 * anew.
 */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { proposalsAfter, TINY, ToyState } from '../simulated/storage/toy-state.js';
import { DamagedError } from './errors.js';
import type { KeyValueDatabase, KeyValueStore, LogDirectory } from './key-value.js';
import { META_NAME } from './meta.js';
import { Storage } from './storage.js';

const DAMAGE = 'corrupted compressed block contents';

function refusingMeta(store: MemoryStore): KeyValueStore {
  let isDamaged = true;
  const unwritable = (database: KeyValueDatabase): KeyValueDatabase => ({
    get: (key) => database.get(key),
    batch: () => Promise.reject(new DamagedError(DAMAGE)),
    iterate: (range) => database.iterate(range),
    snapshot: () => database.snapshot(),
    checkFiles: () => database.checkFiles(),
    close: () => database.close(),
  });
  return {
    founding: () => store.founding(),
    completeFounding: () => store.completeFounding(),
    list: () => store.list(),
    open: async (name) => {
      const database = await store.open(name);
      return name === META_NAME && isDamaged ? unwritable(database) : database;
    },
    destroy: async (name) => {
      if (name === META_NAME) isDamaged = false;
      await store.destroy(name);
    },
    close: () => store.close(),
  };
}

function open(stores: { treeStore: KeyValueStore; logFiles: LogDirectory }) {
  let drawn = 0;
  const starts = { instance: 'i', newIncarnation: () => `incarnation-${++drawn}` };
  const loader = new ToyState();
  return Storage.open({ ...stores, memberId: 1, loader, options: TINY, starts, randomBytes });
}

it('a meta database that can be read and not be written is replaced by one that says so', async () => {
  const [treeStore, logFiles] = [new MemoryStore(), new MemoryLogDirectory()];
  const { storage } = await open({ treeStore, logFiles });
  await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  await storage.append([proposalsAfter(0, { epoch: 1, counter: 1, count: 3 })]);
  await storage.idle();

  const struck = { treeStore: treeStore.crash(() => 1), logFiles: logFiles.crash(() => 1) };
  const found = await open({ ...struck, treeStore: refusingMeta(struck.treeStore) });
  expect(found.recovered.damaged).toContain(DAMAGE);
  expect(found.recovered.ensembleId, 'no vote').toBe('');

  const again = {
    treeStore: struck.treeStore.crash(() => 1),
    logFiles: struck.logFiles.crash(() => 1),
  };
  expect((await open(again)).recovered.damaged).toContain(DAMAGE);
});
