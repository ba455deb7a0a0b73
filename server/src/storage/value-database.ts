/**
 * Keeps the large values of a key-value database in files beside it, and refers to them.
 *
 * Callers never see the references: they read values. A value goes into a file only if the caller
 * asks for it. A file is durable before the batch that refers to it is written.
 */
import { assert } from '@rookery/protocol';
import {
  type BatchOptions,
  type Entry,
  type KeyRange,
  type KeyValueDatabase,
  type KeyValueOperation,
  type KeyValueSnapshot,
  keyFromText,
  keyText,
} from './key-value.js';
import { readReference, referenceTo } from './records.js';
import {
  groupsOf,
  type Location,
  VALUE_LIMITS,
  ValueFiles,
  type ValueHome,
  type ValueLimits,
} from './value-files.js';

/** A value of so many bytes is cheaper to keep in a file than in LevelDB. */
export const LARGE_VALUE_BYTES = 4 << 10;
/** Values with so many bytes in all are read at the same time; as many are read ahead. */
const READ_BYTES = 512 << 10;

export class ValueDatabase implements KeyValueDatabase {
  readonly #database: KeyValueDatabase;
  readonly #files: ValueFiles;
  #isWriting = false;

  private constructor(database: KeyValueDatabase, files: ValueFiles) {
    this.#database = database;
    this.#files = files;
  }

  /** Removes files that nothing refers to. Throws DamagedError if one is missing or too short. */
  static async open(
    database: KeyValueDatabase,
    home: ValueHome,
    limits: ValueLimits = VALUE_LIMITS,
  ): Promise<ValueDatabase> {
    const files = await ValueFiles.open(home, limits);
    if (files.isEmpty) return new ValueDatabase(database, files);
    for await (const entries of database.iterate({})) {
      for (const [key, stored] of entries) {
        const at = readReference(key, stored);
        if (at !== null) files.refer(keyText(key), at);
      }
    }
    await files.endBatch();
    return new ValueDatabase(database, files);
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const unprotect = this.#files.protect();
    try {
      const stored = await this.#database.get(key);
      return stored === undefined ? undefined : await this.#resolved(key, stored);
    } finally {
      await unprotect();
    }
  }

  async batch(operations: readonly KeyValueOperation[], options: BatchOptions): Promise<void> {
    assert(!this.#isWriting, 'batches are written one after the other');
    this.#isWriting = true;
    const { largeInFiles = false } = options;
    const large = largeInFiles ? operations.filter(isLarge).map(({ value }) => value) : [];
    const largeBytes = large.reduce((sum, { length }) => sum + length, 0);
    const moved = largeInFiles ? await this.#files.move(largeBytes) : [];
    const locations = (await this.#files.append(large)).values();
    const references = moved.map(([key, at]) => reference(keyFromText(key), at));
    const changes = operations.map((operation) => {
      const at = largeInFiles && isLarge(operation) ? locations.next().value : undefined;
      return at === undefined ? { ...operation, at: null } : reference(operation.key, at);
    });
    // The changes come last, because the later change of a key counts.
    const all = [...references, ...changes];
    await this.#database.batch(all, options);
    for (const { key, at } of all) this.#files.refer(keyText(key), at);
    await this.#files.endBatch();
    this.#isWriting = false;
  }

  iterate(range: KeyRange): AsyncIterable<readonly Entry[]> {
    const unprotect = this.#files.protect();
    return this.#entries(this.#database.iterate(range), unprotect);
  }

  snapshot(): KeyValueSnapshot {
    const unprotect = this.#files.protect();
    const snapshot = this.#database.snapshot();
    return {
      iterate: (range) => this.#entries(snapshot.iterate(range), async () => undefined),
      close: async () => {
        await snapshot.close();
        await unprotect();
      },
    };
  }

  checkFiles(): AsyncIterable<number> {
    return this.#database.checkFiles();
  }

  async close(): Promise<void> {
    try {
      await this.#files.close();
    } finally {
      await this.#database.close();
    }
  }

  async *#entries(
    source: AsyncIterable<readonly Entry[]>,
    unprotect: () => Promise<void>,
  ): AsyncGenerator<readonly Entry[]> {
    // The next group is read while the caller works on the one before it.
    let ahead: Promise<readonly Entry[]> | null = null;
    try {
      for await (const entries of source) {
        for (const group of groupsOf(entries, READ_BYTES, bytesToRead)) {
          const before: Promise<readonly Entry[]> | null = ahead;
          ahead = this.#read(group);
          // A failure is thrown where the group is awaited; it may come before that.
          ahead.catch(() => undefined);
          if (before !== null) yield await before;
        }
      }
      if (ahead !== null) yield await ahead;
    } finally {
      await ahead?.catch(() => undefined);
      await unprotect();
    }
  }

  async #read(group: readonly Entry[]): Promise<readonly Entry[]> {
    return await Promise.all(
      group.map(async ([key, stored]) => [key, await this.#resolved(key, stored)] as const),
    );
  }

  async #resolved(key: Uint8Array, stored: Uint8Array): Promise<Uint8Array> {
    const at = readReference(key, stored);
    return at === null ? stored : await this.#files.read(at);
  }
}

type Put = Extract<KeyValueOperation, { type: 'put' }>;

function isLarge(operation: KeyValueOperation): operation is Put {
  return operation.type === 'put' && operation.value.length >= LARGE_VALUE_BYTES;
}

function reference(key: Uint8Array, at: Location) {
  return { type: 'put', key, value: referenceTo(key, at), at } as const;
}

function bytesToRead([key, stored]: Entry): number {
  return readReference(key, stored)?.length ?? 0;
}
