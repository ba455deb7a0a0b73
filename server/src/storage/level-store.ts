/**
 * Implements KeyValueStore on LevelDB: a directory with one LevelDB database per name.
 *
 * Makes creation and destruction of databases durable and atomic (LevelDB itself does not sync the
 * parent directory, and deletes a database file by file). A database is checked for damage before
 * LevelDB opens it; the check relies on every batch being synced (level-files.ts). Large
 * values may be in files beside it (value-database.ts).
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { assert } from '@rookery/protocol';
import { Level } from 'level';
import { type Founding, syncDirectory } from './data-directory.js';
import { codesOf, DamagedError, guarded, orFault, textOf } from './errors.js';
import { FileLogDirectory } from './file-log.js';
import type {
  BatchOptions,
  Entry,
  KeyRange,
  KeyValueDatabase,
  KeyValueOperation,
  KeyValueSnapshot,
  KeyValueStore,
} from './key-value.js';
import { checkFile, checkFiles, checkNames, filesToCheck } from './level-files.js';
import type { OwnedDirectory } from './owned-directory.js';
import { ValueDatabase } from './value-database.js';

type Database = Level<Uint8Array, Uint8Array>;

/** Operations, and their bytes, that are added to a batch in one turn of the event loop. */
const SLICE_COUNT = 500;
const SLICE_BYTES = 256 * 1024;
const READ_BYTES = 256 * 1024;
/** How often the files of an open database must seem damaged, and the time between the looks. */
const FILE_CHECKS = 3;
const FILE_CHECKS_APART_MS = 200;

export class LevelStore implements KeyValueStore {
  readonly #databases = new Map<string, KeyValueDatabase>();
  readonly #directory: OwnedDirectory;
  #closing: Promise<void> | null = null;

  /** Closes the directory when it is closed. */
  constructor(directory: OwnedDirectory) {
    this.#directory = directory;
  }

  async founding(): Promise<Founding> {
    return this.#directory.founding;
  }

  async completeFounding(): Promise<void> {
    // LevelDB syncs what its files hold, but not that CURRENT names the newest manifest.
    for (const name of await this.list()) {
      const path = join(this.#directory.path, name);
      await orFault(path, () => syncDirectory(path));
    }
    await this.#directory.complete();
  }

  async list(): Promise<readonly string[]> {
    const entries = await readdir(this.#directory.path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !this.#directory.isOwn(entry.name))
      .map((entry) => entry.name)
      .sort();
  }

  async open(name: string): Promise<KeyValueDatabase> {
    const path = join(this.#directory.path, name);
    await checkFiles(path);
    const level: Database = new Level(path, { keyEncoding: 'view', valueEncoding: 'view' });
    await guarded(path, async () => {
      await level.open();
      await syncDirectory(this.#directory.path);
    });
    const database = new LevelDatabase(level, path, () => this.#databases.delete(name));
    try {
      const directory = await this.#filesBeside(name);
      const opened = await ValueDatabase.open(database, { path, directory });
      this.#databases.set(name, opened);
      return opened;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Resolves when the database cannot come back; its space is freed in background. */
  async destroy(name: string): Promise<void> {
    assert(!this.#databases.has(name), `${name} is closed before it is destroyed`);
    await this.#directory.discard(name);
  }

  /** Safe to call again. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** The directory of a database, for the files of its large values. */
  #filesBeside(name: string): Promise<FileLogDirectory> {
    const { path, disk } = this.#directory;
    return FileLogDirectory.open({
      path: join(path, name),
      disk,
      isOwn: () => false,
      discard: (file) => this.#directory.discard(join(name, file)),
      close: async () => undefined,
    });
  }

  async #closeAll(): Promise<void> {
    try {
      for (const database of [...this.#databases.values()]) await database.close();
    } finally {
      await this.#directory.close();
    }
  }
}

class LevelDatabase implements KeyValueDatabase {
  readonly #level: Database;
  readonly #path: string;
  readonly #onClose: () => void;

  constructor(level: Database, path: string, onClose: () => void) {
    this.#level = level;
    this.#path = path;
    this.#onClose = onClose;
  }

  /** Never from LevelDB's cache: the scrub is to see what is on the disk, and little is asked. */
  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const options = { fillCache: false };
    const value: Uint8Array | undefined = await guarded(this.#path, () =>
      this.#level.get(key, options),
    );
    return value;
  }

  /** A chained batch: twice as fast as an array, and a large one is built over several turns. */
  async batch(operations: readonly KeyValueOperation[], options: BatchOptions): Promise<void> {
    await guarded(this.#path, async () => {
      const batch = this.#level.batch();
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

  iterate(range: KeyRange): AsyncIterable<readonly Entry[]> {
    const iterator = this.#level.iterator<Uint8Array, Uint8Array>({
      ...range,
      ...ITERATOR_OPTIONS,
    });
    return this.#entries(iterator, READ_ENTRIES);
  }

  snapshot(): KeyValueSnapshot {
    const snapshot = this.#level.snapshot();
    return {
      iterate: (range) => {
        const iterator = this.#level.iterator<Uint8Array, Uint8Array>({
          ...range,
          ...ITERATOR_OPTIONS,
          snapshot,
        });
        return this.#entries(iterator, READ_ENTRIES_WHILE_SERVING);
      },
      close: () => snapshot.close(),
    };
  }

  async *checkFiles(): AsyncGenerator<number> {
    await this.#steadily(() => checkNames(this.#path));
    for (const file of await filesToCheck(this.#path)) {
      yield await this.#steadily(() => checkFile(this.#path, file));
    }
  }

  /** LevelDB may change its files meanwhile, so what counts is what is found each time. */
  async #steadily<T>(check: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await check();
      } catch (error) {
        // LevelDB may have removed a file between the listing and the reading.
        const isMissing = codesOf(error).includes('ENOENT');
        if (!(error instanceof DamagedError || isMissing)) throw error;
        if (attempt === FILE_CHECKS) throw damagedBy(this.#path, error);
        await sleep(FILE_CHECKS_APART_MS);
      }
    }
  }

  async close(): Promise<void> {
    await guarded(this.#path, () => this.#level.close());
    this.#onClose();
  }

  async *#entries(iterator: LevelIterator, countMax: number): AsyncGenerator<readonly Entry[]> {
    const read = () => {
      const entries = guarded(this.#path, () => iterator.nextv(countMax));
      // The failure is thrown where the entries are awaited, which may never happen.
      entries.catch(() => undefined);
      return entries;
    };
    let next = read();
    try {
      for (;;) {
        const entries = await next;
        if (entries.length === 0) return;
        // The next entries are read while these are used.
        next = read();
        yield entries;
      }
    } finally {
      await Promise.allSettled([next]);
      await iterator.close();
    }
  }
}

/** The used part of LevelDB's iterator. */
interface LevelIterator {
  nextv(size: number): Promise<[Uint8Array, Uint8Array][]>;
  close(): Promise<void>;
}

/** Two buffers are made for each entry, all of them in one turn of the event loop. */
const READ_ENTRIES = 1000;
/** A snapshot is read for a learner or a backup while clients wait for that event loop. */
const READ_ENTRIES_WHILE_SERVING = 200;
const ITERATOR_OPTIONS = { highWaterMarkBytes: READ_BYTES, fillCache: false };

function damagedBy(path: string, error: unknown): DamagedError {
  if (error instanceof DamagedError) return error;
  return new DamagedError(`${path} is damaged: ${textOf(error)}`, { cause: error });
}
