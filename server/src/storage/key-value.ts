/**
 * Defines all that the rest of storage knows of a disk: ordered key-value databases, and
 * directories of files.
 *
 * `level-store.ts` and `file-log.ts` implement them on LevelDB and the file system,
 * `memory-store.ts` and `memory-log.ts` in memory, with crashes that lose and tear writes, for
 * tests and the simulator. Keys sort as unsigned bytes. A batch is atomic; with `sync` it is
 * durable when the promise resolves, without it it may be lost at a crash, but never out of order
 * with later batches. Nothing here is retried: after a failed write or sync the contents of the
 * disk are unknown, so the caller must end. Every method rejects with a StorageFault when the disk
 * fails; the `read` of a file with a DamagedError for a sector that cannot be read.
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
  close(): Promise<void>;
}

/** A directory of databases, which belongs to one member. */
export interface KeyValueStore {
  /** Whether `completeFounding` was called here, regardless of damage to databases. */
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

/** The bytes at the beginning of a file that `create` clears: two copies of a segment's header. */
export const CLEARED_BYTES = 8192;

export interface LogFile {
  /** The size of the file in bytes. */
  readonly size: number;
  /** What lies at `offset`: `length` bytes, or fewer at the end of the file. The memory is new. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /**
   * Writes the parts one after the other from `offset` on; durable when it resolves. A crash before
   * that may leave any of the write's sectors (512 bytes) written and any not. One write or
   * preallocation at a time. The parts must not change until it resolves.
   */
  write(offset: number, parts: readonly Uint8Array[]): Promise<void>;
  /**
   * Lengthens the file to `size` bytes with zeros that are written, durably, so that a later write
   * within them changes no metadata of the file system. Does nothing when it is as long already, or
   * the disk has no room to spare.
   */
  preallocate(size: number): Promise<void>;
  /** Closes the file. No operation may begin from now on; those under way end first. */
  close(): Promise<void>;
}

export interface LogDirectory {
  /** Names of the files, in no particular order. Spare files are not listed. */
  list(): Promise<readonly string[]>;
  /** Opens a file that exists. A file is opened once at a time. */
  open(name: string): Promise<LogFile>;
  /**
   * Makes a file, durably with its name, and opens it. Its first CLEARED_BYTES are zeros or do not
   * exist; behind them may lie whatever a removed file held.
   */
  create(name: string): Promise<LogFile>;
  /** Removes a closed file, durably; a later `create` may use its space again. */
  remove(name: string): Promise<void>;
  /**
   * Closes all files and releases the directory to other processes. No operation may begin from now
   * on.
   */
  close(): Promise<void>;
}
