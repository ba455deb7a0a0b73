/**
 * KeyValueStore on LevelDB: a directory with one LevelDB database per name.
 *
 * Owns the directory: a file that says whose it is, a database whose lock keeps other processes
 * out, and making creation and destruction of databases durable and atomic (LevelDB itself does not
 * sync the parent directory, and deletes a database file by file). The only place that reads the
 * text of LevelDB's errors.
 */
import { mkdir, open as openFile, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Level } from 'level';
import {
  DamagedError,
  DirectoryError,
  FormatError,
  IdentityError,
  StorageFault,
  StoreLockedError,
} from './errors.js';
import type {
  Entry,
  KeyRange,
  KeyValueDatabase,
  KeyValueOperation,
  KeyValueSnapshot,
  KeyValueStore,
} from './key-value.js';

type Database = Level<Uint8Array, Uint8Array>;

export interface LevelSetup {
  readonly directory: string;
  readonly memberId: number;
  /** LevelDB's write buffer, per database. Larger than a log segment: it is never compacted. */
  readonly writeBufferBytes: number;
}

const OWNER_FILE = 'member.json';
const LOCK_NAME = 'lock';
const TRASH_PREFIX = 'trash-';
const DIRECTORY_FORMAT = 1;
/** Operations put into a batch in one turn of the event loop. */
const SLICE_COUNT = 500;
const READ_BYTES = 256 * 1024;

export class LevelStore implements KeyValueStore {
  private readonly databases = new Map<string, LevelDatabase>();
  private trashCount = 0;
  private readonly setup: LevelSetup;
  private readonly lock: Database;

  private constructor(setup: LevelSetup, lock: Database) {
    this.setup = setup;
    this.lock = lock;
  }

  /** Throws IdentityError or FormatError before it writes anything. */
  static async open(setup: LevelSetup): Promise<LevelStore> {
    await checkOwner(setup.directory, setup.memberId);
    try {
      await makeDirectory(setup.directory);
      const lock = await openExclusively(setup.directory);
      await writeOwner(setup.directory, setup.memberId);
      for (const name of await readdir(setup.directory)) {
        if (name.startsWith(TRASH_PREFIX)) {
          await rm(join(setup.directory, name), { recursive: true, force: true });
        }
      }
      return new LevelStore(setup, lock);
    } catch (error) {
      if (error instanceof StoreLockedError) throw error;
      const reason = textsOf(error).join(': ');
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
    const level = newDatabase(path, { writeBufferSize: this.setup.writeBufferBytes });
    await guarded(path, async () => {
      await level.open();
      await syncDirectory(this.setup.directory);
    });
    const database = new LevelDatabase(level, path, () => this.databases.delete(name));
    this.databases.set(name, database);
    return database;
  }

  async destroy(name: string): Promise<void> {
    const path = join(this.setup.directory, name);
    this.trashCount += 1;
    const trash = join(this.setup.directory, `${TRASH_PREFIX}${this.trashCount}-${name}`);
    await guarded(path, async () => {
      await rename(path, trash);
      await syncDirectory(this.setup.directory);
      await rm(trash, { recursive: true, force: true });
    });
  }

  async close(): Promise<void> {
    for (const database of [...this.databases.values()]) await database.close();
    await this.lock.close();
  }
}

/** The two stores of a member; nothing is written when either directory is another member's. */
export async function openLevelStores(setup: {
  readonly dataDir: string;
  readonly dataLogDir: string;
  readonly memberId: number;
  /** Must be that of the storage's options, see writeBufferBytes. */
  readonly segmentBytesMax: number;
}): Promise<{ readonly treeStore: KeyValueStore; readonly logStore: KeyValueStore }> {
  const { memberId } = setup;
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
      writeBufferBytes: 2 * setup.segmentBytesMax,
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
      for (let i = 0; i < operations.length; i += SLICE_COUNT) {
        if (i > 0) await nextTurn();
        for (const operation of operations.slice(i, i + SLICE_COUNT)) {
          if (operation.type === 'put') batch.put(operation.key, operation.value);
          else batch.del(operation.key);
        }
      }
      await batch.write({ sync: options.sync });
    });
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
    try {
      for (;;) {
        const entries = await guarded(this.path, () => iterator.nextv(1000));
        if (entries.length === 0) return;
        yield entries;
      }
    } finally {
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
  const lock = newDatabase(join(directory, LOCK_NAME), {});
  try {
    await lock.open();
    return lock;
  } catch (error) {
    if (codesOf(error).includes('LEVEL_LOCKED')) {
      throw new StoreLockedError(`the data directory ${directory} is in use by another process`);
    }
    throw error;
  }
}

/** Reads only. A directory that is not there, or is empty, belongs to whoever comes first. */
async function checkOwner(directory: string, memberId: number): Promise<void> {
  const path = join(directory, OWNER_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DirectoryError(`cannot read ${path}: ${reason}`);
  }
  const match = /"rookery":(\d+),"member":(\d+)/.exec(text);
  if (match === null) throw new FormatError(`${path} is not a file of this program`);
  if (Number(match[1]) !== DIRECTORY_FORMAT) {
    throw new FormatError(
      `${directory} has format ${match[1]}, this version reads ${DIRECTORY_FORMAT}`,
    );
  }
  if (Number(match[2]) !== memberId) {
    throw new IdentityError(
      `${directory} holds the data of member ${match[2]}, this is member ${memberId}`,
    );
  }
}

async function writeOwner(directory: string, memberId: number): Promise<void> {
  if ((await readdir(directory)).includes(OWNER_FILE)) return;
  const file = await openFile(join(directory, `${OWNER_FILE}.new`), 'w');
  try {
    await file.writeFile(`{"rookery":${DIRECTORY_FORMAT},"member":${memberId}}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(join(directory, `${OWNER_FILE}.new`), join(directory, OWNER_FILE));
  await syncDirectory(directory);
}

async function makeDirectory(directory: string): Promise<void> {
  const firstMade = await mkdir(directory, { recursive: true });
  if (firstMade === undefined) return;
  for (let path = directory; path.length >= firstMade.length; path = dirname(path)) {
    await syncDirectory(dirname(path));
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await openFile(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** How LevelDB reports a table that is cut short, and a sector that cannot be read. */
const UNREADABLE = /IO error: .*\.(ldb|sst|log): (Invalid argument|Input\/output error)/;

/** Turns LevelDB's and the file system's errors into ours. */
async function guarded<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const text = textsOf(error).join(': ');
    if (codesOf(error).includes('LEVEL_CORRUPTION') || UNREADABLE.test(text)) {
      throw new DamagedError(`${path} is damaged: ${text}`, { cause: error });
    }
    const full = codesOf(error).includes('ENOSPC') || text.includes('No space left on device');
    const reason = full ? 'disk full' : 'input/output';
    throw new StorageFault(reason, `${reason} error at ${path}: ${text}`, error);
  }
}

function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  return ['code' in error ? error.code : undefined, ...codesOf(error.cause)];
}

function textsOf(error: unknown): readonly string[] {
  return error instanceof Error ? [error.message, ...textsOf(error.cause)] : [];
}
