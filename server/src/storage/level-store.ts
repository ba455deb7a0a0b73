/**
 * KeyValueStore on LevelDB: a directory with one LevelDB database per name.
 *
 * Owns the directory: a file that says whose it is, a database whose lock keeps other processes
 * out, and making creation and destruction of databases durable and atomic (LevelDB itself does not
 * sync the parent directory, and deletes a database file by file). A database is checked for damage
 * before LevelDB opens it; the check relies on every batch being synced (write-ahead-scan.ts).
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '@rookery/protocol';
import { Level } from 'level';
import { DEFAULT_STORAGE_OPTIONS } from './contract.js';
import { checkOwner, makeDirectory, syncDirectory, writeOwner } from './data-directory.js';
import { DirectoryError, StoreLockedError } from './errors.js';
import type {
  Entry,
  KeyRange,
  KeyValueDatabase,
  KeyValueOperation,
  KeyValueSnapshot,
  KeyValueStore,
} from './key-value.js';
import { faultOf, guarded, isDamage, isFull, isLocked, textOf } from './level-errors.js';
import { checkFiles, isDamaged } from './level-files.js';
import { Trash } from './trash.js';
import { makeRoom } from './write-ahead-room.js';

type Database = Level<Uint8Array, Uint8Array>;

export interface LevelSetup {
  readonly directory: string;
  readonly memberId: number;
  /** LevelDB's write buffer, per database. Larger than a log segment: it is never compacted. */
  readonly writeBufferBytes: number;
}

const LOCK_NAME = 'lock';
const TRASH_PREFIX = 'trash-';
const TRASH_NAME = /^trash-(\d+)-/;
/** Operations put into a batch in one turn of the event loop, and bytes of them: paths are long. */
const SLICE_COUNT = 500;
const SLICE_BYTES = 256 * 1024;
const READ_BYTES = 256 * 1024;

export class LevelStore implements KeyValueStore {
  private readonly databases = new Map<string, LevelDatabase>();
  private readonly trash = new Trash();
  private trashCount = 0;
  private readonly setup: LevelSetup;
  private readonly lock: Database;

  private constructor(setup: LevelSetup, lock: Database) {
    this.setup = setup;
    this.lock = lock;
  }

  /** What an end of the process left of it goes like all else. */
  private async takeTrashAgain(): Promise<void> {
    for (const name of await readdir(this.setup.directory)) {
      if (!name.startsWith(TRASH_PREFIX)) continue;
      this.trashCount = Math.max(this.trashCount, Number(TRASH_NAME.exec(name)?.[1] ?? 0));
      this.trash.add(join(this.setup.directory, name));
    }
  }

  /** Throws IdentityError or FormatError before it writes; StorageFault for a full disk. */
  static async open(setup: LevelSetup): Promise<LevelStore> {
    await checkOwner(setup.directory, setup.memberId);
    try {
      await makeDirectory(setup.directory);
      const lock = await openExclusively(setup.directory);
      await writeOwner(setup.directory, setup.memberId);
      const store = new LevelStore(setup, lock);
      await store.takeTrashAgain();
      return store;
    } catch (error) {
      if (error instanceof StoreLockedError) throw error;
      // As at run time: the directory is the right one, and another start may find room.
      if (isFull(error)) throw faultOf(setup.directory, error);
      const reason = textOf(error);
      throw new DirectoryError(`cannot use the data directory ${setup.directory}: ${reason}`);
    }
  }

  async list(): Promise<readonly string[]> {
    const entries = await readdir(this.setup.directory, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .filter((name) => name !== LOCK_NAME && !name.startsWith(TRASH_PREFIX))
      .sort();
  }

  async open(name: string): Promise<KeyValueDatabase> {
    const path = join(this.setup.directory, name);
    await checkFiles(path);
    const level = newDatabase(path, { writeBufferSize: this.setup.writeBufferBytes });
    await guarded(path, async () => {
      await level.open();
      await syncDirectory(this.setup.directory);
    });
    const database = new LevelDatabase(level, path, () => this.databases.delete(name));
    this.databases.set(name, database);
    return database;
  }

  /** Resolves when it is gone for good; its bytes follow in background. */
  async destroy(name: string): Promise<void> {
    const path = join(this.setup.directory, name);
    assert(!this.databases.has(name), `${name} is closed before it is destroyed`);
    this.trashCount += 1;
    const trash = join(this.setup.directory, `${TRASH_PREFIX}${this.trashCount}-${name}`);
    await guarded(path, async () => {
      await rename(path, trash);
      await syncDirectory(this.setup.directory);
      this.trash.add(trash);
    });
  }

  async close(): Promise<void> {
    try {
      for (const database of [...this.databases.values()]) await database.close();
      await guarded(this.setup.directory, () => this.trash.empty());
    } finally {
      await this.lock.close();
    }
  }
}

/** The two stores of a member; nothing is written when either directory is another member's. */
export async function openLevelStores(setup: {
  readonly dataDir: string;
  readonly dataLogDir: string;
  readonly memberId: number;
  /** Must be that of the storage's options, if one is given there, see writeBufferBytes. */
  readonly segmentBytesMax?: number;
}): Promise<{ readonly treeStore: KeyValueStore; readonly logStore: KeyValueStore }> {
  const { memberId, segmentBytesMax = DEFAULT_STORAGE_OPTIONS.segmentBytesMax } = setup;
  const treeDirectory = join(setup.dataDir, String(memberId), 'tree');
  const logDirectory = join(setup.dataLogDir, String(memberId), 'log');
  await checkOwner(treeDirectory, memberId);
  await checkOwner(logDirectory, memberId);
  const treeStore = await LevelStore.open({
    directory: treeDirectory,
    memberId,
    writeBufferBytes: 4 * 1024 * 1024,
  });
  try {
    const logStore = await LevelStore.open({
      directory: logDirectory,
      memberId,
      writeBufferBytes: 2 * segmentBytesMax,
    });
    return { treeStore, logStore };
  } catch (error) {
    await treeStore.close();
    throw error;
  }
}

class LevelDatabase implements KeyValueDatabase {
  private readonly level: Database;
  private readonly path: string;
  private readonly onClose: () => void;

  constructor(level: Database, path: string, onClose: () => void) {
    this.level = level;
    this.path = path;
    this.onClose = onClose;
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const value: Uint8Array | undefined = await guarded(this.path, () => this.level.get(key));
    return value;
  }

  /** A chained batch: twice as fast as an array, and a large one is built over several turns. */
  async batch(
    operations: readonly KeyValueOperation[],
    options: { readonly sync: boolean },
  ): Promise<void> {
    await guarded(this.path, async () => {
      const batch = this.level.batch();
      let count = 0;
      let bytes = 0;
      for (const operation of operations) {
        if (count >= SLICE_COUNT || bytes >= SLICE_BYTES) {
          await nextTurn();
          count = 0;
          bytes = 0;
        }
        if (operation.type === 'put') batch.put(operation.key, operation.value);
        else batch.del(operation.key);
        count += 1;
        bytes += operation.key.length + (operation.type === 'put' ? operation.value.length : 0);
      }
      await batch.write({ sync: options.sync });
    });
  }

  async reserve(bytes: number): Promise<void> {
    await guarded(this.path, () => makeRoom(this.path, bytes));
  }

  iterate(range: KeyRange): AsyncIterable<readonly Entry[]> {
    return this.entries(
      this.level.iterator<Uint8Array, Uint8Array>({ ...range, ...ITERATOR_OPTIONS }),
    );
  }

  snapshot(): KeyValueSnapshot {
    const snapshot = this.level.snapshot();
    return {
      iterate: (range) =>
        this.entries(
          this.level.iterator<Uint8Array, Uint8Array>({ ...range, ...ITERATOR_OPTIONS, snapshot }),
        ),
      close: () => snapshot.close(),
    };
  }

  async clear(range: KeyRange): Promise<void> {
    await guarded(this.path, () => this.level.clear(range));
  }

  async close(): Promise<void> {
    await guarded(this.path, () => this.level.close());
    this.onClose();
  }

  private async *entries(iterator: LevelIterator): AsyncGenerator<readonly Entry[]> {
    const read = () => {
      const entries = guarded(this.path, () => iterator.nextv(1000));
      // A failure is thrown where the entries are awaited, which may be never.
      entries.catch(() => undefined);
      return entries;
    };
    let next = read();
    try {
      for (;;) {
        const entries = await next;
        if (entries.length === 0) return;
        // Read while these are used.
        next = read();
        yield entries;
      }
    } finally {
      await Promise.allSettled([next]);
      await iterator.close();
    }
  }
}

/** What is used of LevelDB's iterator. */
interface LevelIterator {
  nextv(size: number): Promise<[Uint8Array, Uint8Array][]>;
  close(): Promise<void>;
}

const ITERATOR_OPTIONS = { highWaterMarkBytes: READ_BYTES, fillCache: false };

function newDatabase(path: string, options: { readonly writeBufferSize?: number }): Database {
  return new Level(path, {
    ...options,
    keyEncoding: 'view',
    valueEncoding: 'view',
  });
}

async function openExclusively(directory: string): Promise<Database> {
  const path = join(directory, LOCK_NAME);
  try {
    return await openLock(directory);
  } catch (error) {
    if (isLocked(error)) {
      throw new StoreLockedError(`the data directory ${directory} is in use by another process`);
    }
    if (!isDamage(error) && !(await isDamaged(path))) throw error;
  }
  // It holds no data, so it is made anew. Its own lock file stays: it keeps a second process out
  // even if both do this at once.
  for (const file of await readdir(path)) {
    if (file !== 'LOCK') await rm(join(path, file), { recursive: true, force: true });
  }
  return await openLock(directory);
}

async function openLock(directory: string): Promise<Database> {
  const lock = newDatabase(join(directory, LOCK_NAME), {});
  await lock.open();
  return lock;
}
