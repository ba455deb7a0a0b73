/** The real LevelDB: who may open a directory, and what damage on disk looks like. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { makeZxid } from '@rookery/protocol';
import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Recovered } from './contract.js';
import { DirectoryError, FormatError, IdentityError, StoreLockedError } from './errors.js';
import { openLevelStores } from './level-store.js';
import { MemoryStore } from './memory-store.js';
import { openToy, proposalsAfter, TINY } from './testing.js';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-level-'));
});
afterEach(() => rm(directory, { recursive: true }));

function setup(memberId = 1) {
  const { segmentBytesMax } = TINY;
  return { dataDir: directory, dataLogDir: join(directory, 'logs'), memberId, segmentBytesMax };
}

async function filled(): Promise<void> {
  const { storage } = await openToy(await openLevelStores(setup()));
  await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
  for (let i = 0; i < 20; i++) {
    await storage.append(proposalsAfter(storage.last, { epoch: 1, counter: i * 2 + 1, count: 2 }));
  }
  await storage.close();
}

describe('a data directory', () => {
  it('of another member is refused, and nothing is written', async () => {
    await filled();
    const { rename } = await import('node:fs/promises');
    await rename(join(directory, '1'), join(directory, '2'));
    const before = await readdir(directory, { recursive: true });
    await expect(openLevelStores(setup(2))).rejects.toThrow(IdentityError);
    expect(await readdir(directory, { recursive: true })).toEqual(before);
  });

  it('that cannot be made is refused with its name', async () => {
    await writeFile(join(directory, 'file'), '');
    const dataDir = join(directory, 'file');
    const open = openLevelStores({ ...setup(), dataDir });
    await expect(open).rejects.toThrow(DirectoryError);
    await expect(openLevelStores({ ...setup(), dataDir })).rejects.toThrow(dataDir);
  });

  it('of a later format is refused', async () => {
    await filled();
    const path = join(directory, '1', 'tree', 'member.json');
    await writeFile(path, '{"rookery":99,"member":1}\n');
    await expect(openLevelStores(setup())).rejects.toThrow(FormatError);
  });
});

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

describe('the file that says whose a directory is', () => {
  it.each(['', '\n', 'garbage'])('tells what to do when it holds %j', async (text) => {
    await filled();
    const path = join(directory, '1', 'tree', 'member.json');
    const line = await readFile(path, 'utf8');
    await writeFile(path, text);
    const open = openLevelStores(setup());
    await expect(open).rejects.toThrow(FormatError);
    await expect(open).rejects.toThrow(`start again: ${line.trim()}`);
    await writeFile(path, line);
    const stores = await openLevelStores(setup());
    await stores.treeStore.close();
    await stores.logStore.close();
  });
});

describe('a database that LevelDB cannot open', () => {
  it.each(Object.keys(SPOILT))('makes the member a damaged one, not a new one: %s', async (how) => {
    for (const name of ['tree/meta', 'tree/tree-0', 'log']) {
      await filled();
      let path = join(directory, '1', name);
      if (name === 'log') path = await newestSegment();
      await SPOILT[how]?.(path);
      for (let start = 0; start < 2; start++) {
        const { storage, recovered } = await openToy(await openLevelStores(setup()));
        expect(recovered.damaged, name).toMatch(/damaged/);
        expect(recovered.damaged, name).toContain(path);
        await storage.close();
      }
      await rm(directory, { recursive: true });
    }
    await mkdir(directory);
  });

  it('leaves none of the others open: a snapshot takes the place of the whole log', async () => {
    const logs = join(directory, 'logs', '1', 'log');
    const segments = async () => (await readdir(logs)).filter((name) => name.startsWith('log-'));
    const first = await openToy(await openLevelStores(setup()));
    await first.storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
    for (let counter = 1; (await segments()).length < 4; counter++) {
      await first.storage.append(
        proposalsAfter(first.storage.last, { epoch: 1, counter, count: 1 }),
      );
      await first.storage.idle();
    }
    await first.storage.close();
    // The last one has nothing in it yet.
    const path = join(logs, 'log-0-2');
    await SPOILT['no CURRENT']?.(path);
    const { storage, recovered } = await openToy(await openLevelStores(setup()));
    expect(recovered.damaged).toContain(path);
    const leader = await openToy({ treeStore: new MemoryStore(), logStore: new MemoryStore() });
    const snapshot = await leader.storage.openSnapshot();
    const sink = await storage.beginSnapshot();
    for await (const records of snapshot.records()) await sink.write(records);
    await storage.installSnapshot(snapshot.zxid);
    await storage.idle();
    await storage.append(proposalsAfter(snapshot.zxid, { epoch: 1, counter: 1, count: 1 }));
    await storage.close();
  });

  it('holds nothing if it is the lock: it is made anew, and still keeps a second process out', async () => {
    await filled();
    for (const [how, spoil] of Object.entries(SPOILT)) {
      for (const name of ['tree', 'logs/1/log']) {
        const path = join(directory, name === 'tree' ? '1/tree' : name, 'lock');
        await spoil(path);
      }
      const stores = await openLevelStores(setup());
      await expect(openLevelStores(setup()), how).rejects.toThrow(StoreLockedError);
      const { storage, recovered } = await openToy(stores);
      expect(recovered.damaged, how).toBe(null);
      await storage.close();
    }
  });
});

async function newestSegment(): Promise<string> {
  const logs = join(directory, 'logs', '1', 'log');
  const segments = (await readdir(logs)).filter((name) => name.startsWith('log-'));
  const number = (name: string) => Number(name.split('-')[2]);
  const last = segments.sort((a, b) => number(a) - number(b)).at(-1);
  return join(logs, last ?? '');
}

describe('a log file of LevelDB', () => {
  it('that is cut short or overwritten anywhere never brings up a wrong log', async () => {
    await filled();
    const pristine = `${directory}-pristine`;
    await cp(directory, pristine, { recursive: true });
    const all = await suffixOf();
    expect(all.suffix.length).toBe(40);
    let damaged = 0;
    const files = await readdir(join(pristine, 'logs', '1', 'log'), { recursive: true });
    for (const file of files.filter((name) => /^log-.*\d\.(log|ldb)$/.test(name))) {
      const bytes = await readFile(join(pristine, 'logs', '1', 'log', file));
      if (bytes.length < 20) continue;
      for (const spoilt of [
        bytes.subarray(0, bytes.length >> 1),
        Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(8, 0xee), bytes.subarray(18)]),
      ]) {
        await rm(directory, { recursive: true });
        await cp(pristine, directory, { recursive: true });
        await writeFile(join(directory, 'logs', '1', 'log', file), spoilt);
        const found = await suffixOf();
        if (found.damaged !== null) damaged += 1;
        else expect(found.suffix, file).toEqual(all.suffix.slice(0, found.suffix.length));
      }
    }
    await rm(pristine, { recursive: true });
    expect(damaged).toBeGreaterThan(0);
  }, 60_000);
});

/**
 * Flips a bit in every `step`th byte of the newest segment's log, one at a time; what is recovered
 * without damage being told is handed to `undamaged`. `flips` is in parts of a byte: length / step.
 */
async function flipEach(
  step: number,
  undamaged: (suffix: Awaited<ReturnType<typeof suffixOf>>['suffix'], at: number) => void,
): Promise<{ readonly told: number; readonly flips: number }> {
  const pristine = `${directory}-pristine`;
  await cp(directory, pristine, { recursive: true });
  const segment = await newestSegment();
  const file = (await readdir(segment)).find((name) => name.endsWith('.log')) ?? '';
  const bytes = await readFile(join(segment, file));
  const written = bytes.findLastIndex((byte) => byte !== 0) + 1;
  expect(written, 'there is room behind what is written').toBeLessThan(bytes.length);
  let told = 0;
  for (let at = 0; at < written; at += step) {
    await rm(directory, { recursive: true });
    await cp(pristine, directory, { recursive: true });
    const spoilt = Buffer.from(bytes);
    spoilt[at] = (spoilt[at] ?? 0) ^ 0x04;
    await writeFile(join(segment, file), spoilt);
    const { damaged, suffix } = await suffixOf();
    if (damaged === null) undamaged(suffix, at);
    else told += 1;
  }
  await rm(pristine, { recursive: true });
  return { told, flips: written / step };
}

describe('a flipped byte in the log', () => {
  it('costs no acknowledged write but by damage that is told, unless it is in the last one', async () => {
    const { treeStore, logStore } = await openLevelStores(setup());
    const { storage } = await openToy({ treeStore, logStore }, { segmentBytesMax: 1 << 16 });
    await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
    for (let i = 0; i < 20; i++) {
      const at = { epoch: 1, counter: i + 1, count: 1 };
      await storage.append(proposalsAfter(storage.last, at));
    }
    await storage.close();
    const { told, flips } = await flipEach(29, (suffix, at) => {
      expect(suffix.length, `byte ${at}`).toBeGreaterThanOrEqual(19);
    });
    expect(told).toBeGreaterThan(flips - 6);
  }, 60_000);
});

describe('a flipped byte in a log whose end is marked', () => {
  it('costs no acknowledged write but by damage that is told, the last one included', async () => {
    const { treeStore, logStore } = await openLevelStores(setup());
    const { storage } = await openToy({ treeStore, logStore }, { segmentBytesMax: 1 << 16 });
    await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
    for (let i = 0; i < 5; i++) {
      await storage.append(proposalsAfter(storage.last, { epoch: 1, counter: i + 1, count: 1 }));
    }
    await storage.markLogEnd();
    await storage.close();
    const { told } = await flipEach(7, (suffix, at) => {
      expect(suffix.length, `byte ${at}`).toBe(5);
    });
    expect(told).toBeGreaterThan(20);
  }, 60_000);
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
  it('was a synced batch of LevelDB: of the log, twice of meta, of the tree', async () => {
    const { treeStore, logStore } = await openLevelStores(setup());
    const spied = await spiedBatches();
    const { storage } = await openToy({ treeStore, logStore }, {});
    spied.taken();
    await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
    const meta = { database: 'meta', sync: true };
    expect(spied.taken()).toEqual([meta, meta]);
    await storage.append(proposalsAfter(storage.last, { epoch: 1, counter: 1, count: 3 }));
    const [first, ...others] = spied.taken();
    expect(first).toEqual({ database: expect.stringMatching(/^log-/), sync: true });
    await storage.truncate(makeZxid(1, 2));
    storage.beginCheckpoint(makeZxid(1, 2));
    await storage.writeCheckpoint([], { zxid: makeZxid(1, 2), digest: '', lastTime: 0 });
    const rest = [...others, ...spied.taken()];
    const names = rest.map(({ database }) => database);
    expect(names).toContainEqual(expect.stringMatching(/^log-/));
    expect(names).toContain('tree-0');
    expect(rest.filter(({ sync }) => sync !== true)).toEqual([]);
    await storage.close();
    spied.restore();
  });
});

async function suffixOf(): Promise<Recovered> {
  const { storage, recovered } = await openToy(await openLevelStores(setup()));
  await storage.close();
  return recovered;
}
