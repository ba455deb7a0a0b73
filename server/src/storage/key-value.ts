/**
 * The only thing that tree and meta know of a disk: ordered key-value databases, opened by name.
 *
 * `level-store.ts` implements it on LevelDB, `memory-store.ts` in memory with crashes for tests and
 * the simulator. Keys sort as unsigned bytes. A batch is atomic; with `sync` it is durable when the
 * promise resolves, without it it may be lost at a crash, but never out of order with later
 * batches.
 */
import { bufferOf } from '@rookery/protocol';
import type { Founding } from './data-directory.js';

export type KeyValueOperation =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Uint8Array };

export interface BatchOptions {
  readonly sync: boolean;
  /**
   * Large values are written into files beside the database. Only with `sync`.
   */
  readonly largeInFiles?: boolean;
}

export interface KeyRange {
  readonly gt?: Uint8Array;
  readonly lt?: Uint8Array;
  readonly limit?: number;
}

export type Entry = readonly [key: Uint8Array, value: Uint8Array];

/** A frozen view of a database; must be closed. */
export interface KeyValueSnapshot {
  iterate(range: KeyRange): AsyncIterable<readonly Entry[]>;
  close(): Promise<void>;
}

export interface KeyValueDatabase {
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  batch(operations: readonly KeyValueOperation[], options: BatchOptions): Promise<void>;
  /** Yields batches of bounded size, in key order, from a view taken when it is called. */
  iterate(range: KeyRange): AsyncIterable<readonly Entry[]>;
  snapshot(): KeyValueSnapshot;
  /**
   * Throws DamagedError for files on which the next opening would fail. Reads some of them, and of
   * the others what is read only when they are opened. After each file it yields the number of
   * bytes read.
   */
  checkFiles(): AsyncIterable<number>;
  /** Deletes keys, neither atomically nor durably. Only for garbage. */
  clear(range: KeyRange): Promise<void>;
  close(): Promise<void>;
}

/** A directory of databases, which belongs to one member. */
export interface KeyValueStore {
  /** Whether `completeFounding` was called here. No damage of a database changes what it tells. */
  founding(): Promise<Founding>;
  /** Marks the directory durably, behind everything that the databases hold by then. */
  completeFounding(): Promise<void>;
  list(): Promise<readonly string[]>;
  open(name: string): Promise<KeyValueDatabase>;
  /** Deletes a closed database. Its space is freed soon afterwards. */
  destroy(name: string): Promise<void>;
  /** Keeps every other process out until `close`. Throws StoreLockedError. */
  close(): Promise<void>;
}

/** The key as a string of one code unit for each byte, which sorts as the key does. */
export function keyText(key: Uint8Array): string {
  return bufferOf(key).toString('latin1');
}

export function keyFromText(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}

export function sameKey(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
