/**
 * A key-value database whose large values are in files beside it, and which has references to them.
 *
 * To its users it is a database like any other: what is iterated, or got, are the values. Values
 * are written apart only where the caller allows it, because a release before ensemble level 5 does
 * not know the references. The files are durable before the batch that refers to them is written.
 */
import { assert, bufferOf } from '@rookery/protocol';
import type {
  BatchOptions,
  Entry,
  KeyRange,
  KeyValueDatabase,
  KeyValueOperation,
  KeyValueSnapshot,
} from './key-value.js';
import { readReference, referenceTo } from './records.js';
import { VALUE_LIMITS, ValueFiles, type ValueHome, type ValueLimits } from './value-files.js';

/** From so many bytes on, a file of its own kind costs a value less than LevelDB does. */
export const LARGE_VALUE_BYTES = 4 << 10;
/** Values that are read at the same time. */
const READ_BYTES = 1 << 20;

export class ValueDatabase implements KeyValueDatabase {
  private readonly database: KeyValueDatabase;
  private readonly files: ValueFiles;
  private isWriting = false;

  private constructor(database: KeyValueDatabase, files: ValueFiles) {
    this.database = database;
    this.files = files;
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
        if (at !== null) files.refer(textOf(key), at);
      }
    }
    await files.settle();
    return new ValueDatabase(database, files);
  }

  /** Bytes of the files beside the database. */
  get valueBytes(): number {
    return this.files.bytes;
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const stop = this.files.keep();
    try {
      const stored = await this.database.get(key);
      return stored === undefined ? undefined : await this.resolved(key, stored);
    } finally {
      await stop();
    }
  }

  async batch(operations: readonly KeyValueOperation[], options: BatchOptions): Promise<void> {
    assert(!this.isWriting, 'batches are written one after the other');
    this.isWriting = true;
    const isLarge = (operation: KeyValueOperation): operation is Put =>
      options.largeApart === true &&
      operation.type === 'put' &&
      operation.value.length >= LARGE_VALUE_BYTES;
    const large = operations.filter(isLarge).map(({ value }) => value);
    const bytes = large.reduce((sum, { length }) => sum + length, 0);
    const moved = options.largeApart === true ? await this.files.move(bytes) : [];
    const locations = (await this.files.append(large)).values();
    const written = moved.map(([key, at]) => ({ ...putOf(keyOf(key), at), at }));
    // Behind those that were moved, because a later change of the same key counts.
    const changes = operations.map((operation) => {
      const at = isLarge(operation) ? (locations.next().value ?? null) : null;
      return at === null ? { ...operation, at } : { ...putOf(operation.key, at), at };
    });
    const all = [...written, ...changes];
    await this.database.batch(all, options);
    for (const { key, at } of all) this.files.refer(textOf(key), at);
    await this.files.settle();
    this.isWriting = false;
  }

  iterate(range: KeyRange): AsyncIterable<readonly Entry[]> {
    const stop = this.files.keep();
    return this.entries(this.database.iterate(range), stop);
  }

  snapshot(): KeyValueSnapshot {
    const stop = this.files.keep();
    const snapshot = this.database.snapshot();
    return {
      iterate: (range) => this.entries(snapshot.iterate(range), async () => undefined),
      close: async () => {
        await snapshot.close();
        await stop();
      },
    };
  }

  async clear(range: KeyRange): Promise<void> {
    assert(this.files.isEmpty, 'what is cleared has no values in files');
    await this.database.clear(range);
  }

  async close(): Promise<void> {
    try {
      await this.files.close();
    } finally {
      await this.database.close();
    }
  }

  private async *entries(
    source: AsyncIterable<readonly Entry[]>,
    stop: () => Promise<void>,
  ): AsyncGenerator<readonly Entry[]> {
    try {
      for await (const entries of source) {
        for (const group of groupsOf(entries)) {
          yield await Promise.all(
            group.map(async ([key, stored]) => [key, await this.resolved(key, stored)] as const),
          );
        }
      }
    } finally {
      await stop();
    }
  }

  private async resolved(key: Uint8Array, stored: Uint8Array): Promise<Uint8Array> {
    const at = readReference(key, stored);
    return at === null ? stored : await this.files.read(at);
  }
}

type Put = Extract<KeyValueOperation, { type: 'put' }>;

function putOf(key: Uint8Array, at: Parameters<typeof referenceTo>[1]): Put {
  return { type: 'put', key, value: referenceTo(key, at) };
}

/** The entries in order, in groups whose values are about READ_BYTES long. */
function* groupsOf(entries: readonly Entry[]): Generator<readonly Entry[]> {
  let group: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    group.push(entry);
    bytes += readReference(...entry)?.length ?? 0;
    if (bytes < READ_BYTES) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

/** One code unit per byte. */
function textOf(key: Uint8Array): string {
  return bufferOf(key).toString('latin1');
}

function keyOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}
