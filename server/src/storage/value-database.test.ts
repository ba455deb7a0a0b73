/**
 * Large values in files beside a database. A reader gets what was written, however values are moved
 * and whenever the power fails. Files without live values are removed, and damage is found.
 */
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { type Chance, DiskHistory, homeOn, MemoryDisk } from '../simulated/storage/memory-disk.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { WatchedDisk } from '../simulated/storage/watched-disk.js';
import { CheckpointedTree, changeWithChecksum } from './checkpoint.js';
import type { StateLoader } from './contract.js';
import { DamagedError } from './errors.js';
import { FileLogDirectory } from './file-log.js';
import type { KeyValueDatabase, KeyValueOperation, KeyValueSnapshot } from './key-value.js';
import { LevelStore } from './level-store.js';
import type { DiskFile } from './log-disk.js';
import { OwnedDirectory } from './owned-directory.js';
import { addChecksum, readReference, referenceTo } from './records.js';
import { LARGE_VALUE_BYTES, ValueDatabase } from './value-database.js';
import type { ValueLimits } from './value-files.js';

const TINY: ValueLimits = { fileBytesMax: 20_000, deadBytesMax: 8_000, writeBytes: 9_000 };
const IN_FILES = { sync: true, largeInFiles: true } as const;
const PATH = '/tree-1';

type Contents = ReadonlyMap<string, string>;

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function keyOf(text: string): Uint8Array {
  return Buffer.from(text);
}

/** A value that is kept in a file, or one that is not; no two are equal. */
function valueNumber(count: number, isLarge: boolean): string {
  return `${count}`.padEnd(isLarge ? LARGE_VALUE_BYTES + (count % 1500) : 20, 'x');
}

async function contentsOf(database: KeyValueSnapshot): Promise<Contents> {
  const found = new Map<string, string>();
  for await (const entries of database.iterate({})) {
    for (const [key, value] of entries) {
      found.set(Buffer.from(key).toString(), Buffer.from(value).toString());
    }
  }
  return found;
}

async function openOn(disk: MemoryDisk, database: KeyValueDatabase): Promise<ValueDatabase> {
  const directory = await FileLogDirectory.open(homeOn(disk, PATH));
  return ValueDatabase.open(database, { path: PATH, directory }, TINY);
}

/** The sizes of the files of values in bytes. */
async function sizesOn(disk: MemoryDisk): Promise<readonly number[]> {
  const names = (await disk.list(PATH)).filter((name) => name.startsWith('values-'));
  return Promise.all(names.map(async (name) => (await disk.open(join(PATH, name))).size));
}

async function databaseFrom(entries: ReadonlyMap<string, Uint8Array>): Promise<KeyValueDatabase> {
  const store = new MemoryStore();
  await (await store.open('tree-1')).close();
  store.tamper('tree-1', (now) => {
    for (const [key, value] of entries) now.set(key, value);
  });
  return store.open('tree-1');
}

/** Changes of a few keys, some of them twice, and what they make of `before`. */
function changed(before: Contents, count: number, random: () => number) {
  const after = new Map(before);
  const operations: KeyValueOperation[] = [];
  for (let i = 0; i < 1 + random() * 4; i++) {
    const key = `k${Math.floor(random() * 9)}`;
    if (random() < 0.2) {
      operations.push({ type: 'del', key: keyOf(key) });
      after.delete(key);
    } else {
      const value = valueNumber(count * 10 + i, random() < 0.7);
      operations.push({ type: 'put', key: keyOf(key), value: Buffer.from(value) });
      after.set(key, value);
    }
  }
  return { operations, after: new Map([...after].sort()) };
}

interface Moment {
  readonly title: string;
  readonly legal: readonly Contents[];
  readonly stored: ReadonlyMap<string, Uint8Array>;
  readonly disk: MemoryDisk;
}

/**
 * Runs three processes one after the other; returns how the disk may be found at each moment of
 * them.
 */
async function momentsOf(seed: number): Promise<readonly Moment[]> {
  const random = seededRandom(seed);
  const chances: readonly Chance[] = [() => false, () => true, () => random() < 0.5];
  const moments: Moment[] = [];
  const history = new DiskHistory();
  let legal: readonly Contents[] = [new Map()];
  const look = () => {
    let stored: ReadonlyMap<string, Uint8Array> = new Map();
    if (store.names().length > 0) {
      store.tamper('tree-1', (entries) => {
        stored = new Map(entries);
      });
    }
    for (const chance of history.isCertain ? chances.slice(0, 1) : chances) {
      const title = `seed ${seed}, moment ${moments.length}`;
      moments.push({ title, legal, stored, disk: history.image(chance) });
    }
  };
  const store = new MemoryStore({ gate: async () => look() });
  const disk = new WatchedDisk(
    new MemoryDisk([]),
    history.onChange(() => look()),
  );
  const discard = async (name: string) => {
    await disk.rename(join(PATH, name), join('/trash', name));
    await disk.syncDirectory(PATH);
  };
  for (let process = 0; process < 3; process++) {
    const home = { path: PATH, disk, discard, isOwn: () => false, close: async () => undefined };
    const directory = await FileLogDirectory.open(home);
    const beside = { path: PATH, directory };
    const database = await ValueDatabase.open(await store.open('tree-1'), beside, TINY);
    for (let i = 1; i <= 12; i++) {
      const before = legal.at(-1) ?? new Map();
      const { operations, after } = changed(before, process * 100 + i, random);
      legal = [before, after];
      await database.batch(operations, IN_FILES);
      legal = [after];
      expect(await contentsOf(database), `seed ${seed}, batch ${i}`).toEqual(after);
    }
    await database.close();
  }
  return moments;
}

describe('large values in files', () => {
  it.each([1, 2, 3, 4])('survive a power failure at any moment, seed %i', async (seed) => {
    const moments = await momentsOf(seed);
    expect(moments.length).toBeGreaterThan(200);
    for (const { title, legal, stored, disk } of moments) {
      const database = await openOn(disk, await databaseFrom(stored));
      const found = await contentsOf(database);
      expect(
        legal.map((contents) => [...contents]),
        title,
      ).toContainEqual([...found]);
      const next = changed(found, 1e6, seededRandom(seed));
      await database.batch(next.operations, IN_FILES);
      expect(await contentsOf(database), title).toEqual(next.after);
    }
  });

  it('take at most twice their size, the dead bytes that may stay, and three files', async () => {
    const disk = new MemoryDisk([]);
    const database = await openOn(disk, await new MemoryStore().open('tree-1'));
    const random = seededRandom(1);
    let most = 0;
    for (let count = 1; count < 400; count++) {
      const key = keyOf(`k${Math.floor(random() ** 2 * 10)}`);
      const value = Buffer.from(valueNumber(count, true));
      await database.batch([{ type: 'put', key, value }], IN_FILES);
      most = Math.max(most, sumOf(await sizesOn(disk)));
    }
    const live = [...(await contentsOf(database)).values()].join('').length;
    // A file is emptied little by little, and goes when it is empty.
    expect(most).toBeLessThan(2 * live + TINY.deadBytesMax + 3 * TINY.fileBytesMax);
    expect(most).toBeGreaterThan(live);
  });

  it('are moved together when many short processes have left a file each', async () => {
    const disk = new MemoryDisk([]);
    const store = new MemoryStore();
    for (let life = 0; life < 60; life++) {
      const database = await openOn(disk, await store.open('tree-1'));
      const value = Buffer.from(valueNumber(life, true));
      await database.batch([{ type: 'put', key: keyOf(`life${life}`), value }], IN_FILES);
      await database.close();
    }
    expect((await sizesOn(disk)).length).toBeLessThan(60);
    const database = await openOn(disk, await store.open('tree-1'));
    expect((await contentsOf(database)).size).toBe(60);
  });

  it('can be read until a snapshot is closed, and their files are removed then', async () => {
    const disk = new MemoryDisk([]);
    const database = await openOn(disk, await new MemoryStore().open('tree-1'));
    const written = async (from: number) => {
      const operations = Array.from({ length: 9 }, (_, i): KeyValueOperation => {
        return {
          type: 'put',
          key: keyOf(`k${i}`),
          value: Buffer.from(valueNumber(from + i, true)),
        };
      });
      await database.batch(operations, IN_FILES);
    };
    await written(100);
    const snapshot = database.snapshot();
    const before = await contentsOf(database);
    await written(200);
    await written(300);
    const files = (await sizesOn(disk)).length;
    expect(await contentsOf(snapshot)).toEqual(before);
    await snapshot.close();
    expect((await sizesOn(disk)).length).toBeLessThan(files);
    expect((await contentsOf(database)).get('k0')).toBe(valueNumber(300, true));
  });

  it('are removed once, whatever ends at the same time as a snapshot', async () => {
    const disk = new MemoryDisk([]);
    const database = await openOn(disk, await new MemoryStore().open('tree-1'));
    const put = (key: number, from: number): KeyValueOperation => {
      return { type: 'put', key: keyOf(`k${key}`), value: Buffer.from(valueNumber(from, true)) };
    };
    for (let from = 100; from < 150; from += 10) {
      const operations = Array.from({ length: 9 }, (_, i) => put(i, from + i));
      await database.batch(operations, IN_FILES);
      if (from === 100) await contentsOf(database);
    }
    const snapshot = database.snapshot();
    for (let from = 200; from < 250; from += 10) {
      const operations = Array.from({ length: 9 }, (_, i) => put(i, from + i));
      await database.batch(operations, IN_FILES);
    }
    const files = (await sizesOn(disk)).length;
    const gets = [0, 1, 2].map((key) => database.get(keyOf(`k${key}`)));
    await Promise.all([snapshot.close(), ...gets, database.batch([put(0, 300)], IN_FILES)]);
    expect((await sizesOn(disk)).length).toBeLessThan(files - 2);
    expect((await contentsOf(database)).get('k0')).toBe(valueNumber(300, true));
  });
});

/** Counts the files that are open and the reads; reads from number `failsFrom` on fail. */
class CountingDisk extends MemoryDisk {
  openFiles = 0;
  reads = 0;
  failsFrom = Number.POSITIVE_INFINITY;

  override async open(path: string): Promise<DiskFile> {
    const file = await super.open(path);
    this.openFiles += 1;
    return {
      size: file.size,
      copies: file.copies,
      read: async (offset, length) => {
        this.reads += 1;
        if (this.reads >= this.failsFrom) throw new DamagedError(`read ${this.reads} fails`);
        return await file.read(offset, length);
      },
      write: (offset, parts) => file.write(offset, parts),
      truncate: (size) => file.truncate(size),
      close: async () => {
        this.openFiles -= 1;
        await file.close();
      },
    };
  }
}

describe('large values are read in groups, one ahead', () => {
  /** Two of these make a group of 512 KB. */
  const value = Buffer.alloc(300 << 10, 'v');

  async function sixValues() {
    const disk = new CountingDisk([]);
    const store = new MemoryStore();
    const before = await openOn(disk, await store.open('tree-1'));
    for (let i = 0; i < 6; i++) {
      await before.batch([{ type: 'put', key: keyOf(`k${i}`), value }], IN_FILES);
    }
    await before.close();
    const database = await openOn(disk, await store.open('tree-1'));
    expect(disk.openFiles).toBe(0);
    return { disk, entries: database.iterate({})[Symbol.asyncIterator]() };
  }

  it('the next group is under way when the caller gets one, and no further one', async () => {
    const { disk, entries } = await sixValues();
    expect((await entries.next()).value).toHaveLength(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(disk.reads).toBe(4);
    expect((await entries.next()).value).toHaveLength(2);
    expect((await entries.next()).value).toHaveLength(2);
    expect((await entries.next()).done).toBe(true);
    expect(disk.reads).toBe(6);
    expect(disk.openFiles).toBe(0);
  });

  it('a value that cannot be read is thrown after the group before it', async () => {
    const { disk, entries } = await sixValues();
    disk.failsFrom = 3;
    expect((await entries.next()).value).toHaveLength(2);
    await expect(entries.next()).rejects.toThrow('read 3 fails');
    expect(disk.openFiles).toBe(0);
  });

  it('a caller that stops early leaves no file open, and hears of no later failure', async () => {
    const { disk, entries } = await sixValues();
    disk.failsFrom = 3;
    await entries.next();
    await entries.return?.();
    expect(disk.reads).toBe(4);
    expect(disk.openFiles).toBe(0);
  });
});

it('a reference is never taken for a value, nor a value for a reference', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const parts = fc.tuple(fc.uint8Array({ maxLength: 9 }), bytes(12), fc.nat(), fc.nat(), fc.nat());
  fc.assert(
    fc.property(parts, ([key, payload, file, offset, length]) => {
      const at = { file, offset, length };
      expect(readReference(key, referenceTo(key, at))).toEqual(at);
      expect(readReference(key, addChecksum(key, payload))).toBe(null);
      expect(readReference(Uint8Array.of(...key, 1), referenceTo(key, at))).toBe(null);
    }),
  );
});

class Loader implements StateLoader {
  readonly found = new Map<string, number>();
  load(key: Uint8Array, value: Uint8Array): void {
    this.found.set(Buffer.from(key).toString(), value.length);
  }
  finishLoad(): void {}
  digest(): string {
    return 'digest';
  }
}

describe('the tree of a member', () => {
  const directories: string[] = [];
  afterEach(async () => {
    for (const path of directories.splice(0)) await rm(path, { recursive: true });
  });

  const CHECKPOINT = { zxid: 0, digest: 'digest', lastTime: 0 };

  /** A checkpoint with three large records in LevelDB's directory. */
  async function written() {
    const dataDir = await mkdtemp(join(tmpdir(), 'rookery-values-'));
    directories.push(dataDir);
    const opened = async () => new LevelStore(await OwnedDirectory.open(dataDir, 1));
    const store = await opened();
    const tree = await CheckpointedTree.create(store, 1, CHECKPOINT);
    const changes = [1, 2, 3].map((n) =>
      changeWithChecksum({ key: keyOf(`p${n}`), value: new Uint8Array(n * 9000).fill(n) }),
    );
    await tree.write(changes, CHECKPOINT);
    await store.close();
    const path = join(dataDir, 'tree-1');
    const loaded = async () => {
      const again = await opened();
      onTestFinished(() => again.close());
      const loader = new Loader();
      await (await CheckpointedTree.open(again, 1)).load(loader);
      return loader.found;
    };
    const files = (await readdir(path)).filter((name) => name.startsWith('values-'));
    return { files: files.map((name) => join(path, name)), loaded };
  }

  const RECORDS = new Map([
    ['p1', 9000],
    ['p2', 18_000],
    ['p3', 27_000],
  ]);

  it('keeps its large records in a file', async () => {
    const { files, loaded } = await written();
    expect(files.length).toBe(1);
    expect(await loaded()).toEqual(RECORDS);
  });

  it.each<[string, RegExp, (path: string) => Promise<void>]>([
    ['is missing', /is missing/, (path) => rm(path)],
    ['is cut short', /ends within a value/, (path) => truncate(path, 50_000)],
    ['is empty', /ends within a value/, (path) => truncate(path, 0)],
    [
      'has another bit',
      /wrong checksum/,
      async (path) => {
        const bytes = await readFile(path);
        bytes.writeUInt8(bytes.readUInt8(20_000) ^ 4, 20_000);
        await writeFile(path, bytes);
      },
    ],
  ])('is damaged when the file %s', async (_, message, spoil) => {
    const { files, loaded } = await written();
    await spoil(files[0] ?? '');
    const failure = await loaded().then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(DamagedError);
    expect(String(failure)).toMatch(message);
  });
});
