/** The real LevelDB under tree and meta: what damage of its files looks like, what is synced. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { makeZxid } from '@rookery/protocol';
import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import { StoreLockedError } from './errors.js';
import { openStores } from './stores.js';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-level-'));
});
afterEach(() => rm(directory, { recursive: true }));

function setup(memberId = 1) {
  return { dataDir: directory, dataLogDir: join(directory, 'logs'), memberId };
}

async function filled(): Promise<void> {
  const { storage } = await openToy(await openStores(setup()));
  await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
  for (let i = 0; i < 20; i++) {
    await storage.append([
      proposalsAfter(storage.last, { epoch: 1, counter: i * 2 + 1, count: 2 }),
    ]);
  }
  await storage.close();
}

/** What can become of the files that tell LevelDB what belongs to a database. */
const SPOILT: Readonly<Record<string, (path: string) => Promise<void>>> = {
  'a manifest of garbage': (path) => eachFile(path, /^MANIFEST/, (file) => writeFile(file, 'no')),
  'an empty manifest': (path) => eachFile(path, /^MANIFEST/, (file) => writeFile(file, '')),
  'no manifest': (path) => eachFile(path, /^MANIFEST/, (file) => rm(file)),
  'a CURRENT that names what is not there': (path) =>
    writeFile(join(path, 'CURRENT'), 'MANIFEST-000099\n'),
  'a CURRENT with another byte': (path) =>
    writeFile(join(path, 'CURRENT'), 'MANIFEST\u00ff000002\n', 'latin1'),
  'a CURRENT of garbage': (path) => writeFile(join(path, 'CURRENT'), 'no'),
  'an empty CURRENT': (path) => writeFile(join(path, 'CURRENT'), ''),
  'no CURRENT': (path) => rm(join(path, 'CURRENT')),
  'no write-ahead file': (path) => eachFile(path, /\.log$/, (file) => rm(file)),
};

async function eachFile(path: string, name: RegExp, action: (file: string) => Promise<void>) {
  for (const file of await readdir(path)) if (name.test(file)) await action(join(path, file));
}

describe('a database that LevelDB cannot open', () => {
  it.each(Object.keys(SPOILT))('makes the member a damaged one, not a new one: %s', async (how) => {
    for (const name of ['meta', 'tree-0']) {
      await filled();
      const path = join(directory, '1', 'tree', name);
      await SPOILT[how]?.(path);
      for (let start = 0; start < 2; start++) {
        const { storage, recovered } = await openToy(await openStores(setup()));
        expect(recovered.damaged, name).toMatch(/damaged/);
        expect(recovered.damaged, name).toContain(path);
        await storage.close();
      }
      await rm(directory, { recursive: true });
    }
    await mkdir(directory);
  });

  it('holds nothing if it is the lock: it is made anew, and still keeps a second process out', async () => {
    await filled();
    for (const [how, spoil] of Object.entries(SPOILT)) {
      for (const name of ['tree', 'logs/1/log']) {
        const path = join(directory, name === 'tree' ? '1/tree' : name, 'lock');
        await spoil(path);
      }
      const stores = await openStores(setup());
      await expect(openStores(setup()), how).rejects.toThrow(StoreLockedError);
      const { storage, recovered } = await openToy(stores);
      expect(recovered.damaged, how).toBe(null);
      await storage.close();
    }
  });
});

interface Batch {
  readonly db: { readonly location: string };
}
interface BatchOptions {
  readonly sync?: boolean;
}

/** What reaches LevelDB's own binding, by database: whether each batch is to be synced. */
async function spiedBatches() {
  const probe = new Level(join(directory, 'probe'));
  await probe.open();
  const batch = probe.batch();
  const prototype = Object.getPrototypeOf(batch);
  await batch.close();
  await probe.close();
  const original: (options: BatchOptions) => Promise<void> = prototype._write;
  let batches: { database: string; sync: boolean | undefined }[] = [];
  prototype._write = function (this: Batch, options: BatchOptions) {
    batches.push({ database: basename(this.db.location), sync: options.sync });
    return original.call(this, options);
  };
  const taken = () => {
    const all = batches;
    batches = [];
    return all;
  };
  return { taken, restore: () => Object.assign(prototype, { _write: original }) };
}

describe('what is told to be durable', () => {
  it('was a synced batch of LevelDB: twice of meta, of the tree', async () => {
    const stores = await openStores(setup());
    const spied = await spiedBatches();
    const { storage } = await openToy(stores, {});
    spied.taken();
    await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
    const meta = { database: 'meta', sync: true };
    expect(spied.taken()).toEqual([meta, meta]);
    await storage.append([proposalsAfter(storage.last, { epoch: 1, counter: 1, count: 3 })]);
    spied.taken();
    storage.beginCheckpoint(makeZxid(1, 2));
    await storage.writeCheckpoint([], { zxid: makeZxid(1, 2), digest: '', lastTime: 0 });
    const batches = spied.taken();
    expect(batches.map(({ database }) => database)).toContain('tree-0');
    expect(batches.filter(({ sync }) => sync !== true)).toEqual([]);
    await storage.close();
    spied.restore();
  });
});
