/**
 * Stores the tree of one generation on disk: the records of the state at exactly one zxid.
 *
 * Owns the database `tree-<generation>`. Its checkpoint record (zxid, digest, time, level) is
 * written in the same synced batch as the changed records, so tree and zxid never disagree. All
 * values have a checksum. Keys: `c` is the checkpoint; `p...` are blocks of znodes, `d...` say
 * which records of a block are dead, and `s...` are sessions. state/ encodes these three.
 */
import { assert, formatZxid, MarshallingError } from '@rookery/protocol';
import { z } from 'zod';
import { DamagedCheckpointError } from '../state/damage.js';
import { LEVEL } from '../state/level.js';
import type { StateLoader, TreeRecord } from './contract.js';
import { DamagedError } from './errors.js';
import type {
  BatchOptions,
  KeyValueDatabase,
  KeyValueOperation,
  KeyValueStore,
} from './key-value.js';
import {
  addChecksum,
  addChecksumInPlace,
  jsonWithChecksum,
  verifiedJson,
  verifiedPayload,
} from './records.js';
import { type SharedDatabase, SharedResource } from './shared-resource.js';

const CHECKPOINT_SCHEMA = z.object({
  zxid: z.number().int().min(0),
  digest: z.string(),
  /** The time of the last transaction, ms since 1970. */
  lastTime: z.number(),
  /** The ensemble level; without it, the first one. */
  level: z.number().int().min(LEVEL.first).optional(),
  /** Nothing reads it; written as 0 from `LEVEL.reservedField` on. */
  reserved: z.number().optional(),
});

export type Checkpoint = Readonly<z.infer<typeof CHECKPOINT_SCHEMA>>;

export const CHECKPOINT_KEY = Uint8Array.of(0x63);
const NAME = /^tree-(\d+)$/;

export interface ChangedRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  /** Whether the value has CHECKSUM_BYTES of memory of its own right before it. */
  readonly hasChecksumRoom?: true;
}

export function treeName(generation: number): string {
  return `tree-${generation}`;
}

export function parseTreeName(name: string): number | null {
  const match = NAME.exec(name);
  return match === null ? null : Number(match[1]);
}

export class CheckpointedTree {
  readonly generation: number;
  readonly database: SharedDatabase;
  #current: Checkpoint;
  #writing: Promise<void> = Promise.resolve();

  private constructor(generation: number, database: SharedDatabase, current: Checkpoint) {
    this.generation = generation;
    this.database = database;
    this.#current = current;
  }

  /** A tree without records, durable when resolved. */
  static async create(
    store: KeyValueStore,
    generation: number,
    checkpoint: Checkpoint,
  ): Promise<CheckpointedTree> {
    const database = new SharedResource(store, treeName(generation));
    const open = await database.pin();
    try {
      await open.batch([putCheckpoint(checkpoint)], { sync: true });
    } catch (error) {
      // What a full disk has left of it takes room until it is gone.
      await database.markForDeletion();
      throw error;
    }
    return new CheckpointedTree(generation, database, checkpoint);
  }

  /** Throws DamagedError when there is no checkpoint that can be read. */
  static async open(store: KeyValueStore, generation: number): Promise<CheckpointedTree> {
    const name = treeName(generation);
    const database = new SharedResource(store, name);
    try {
      const checkpoint = await readCheckpoint(name, await database.pin());
      if (checkpoint === null) throw new DamagedError(`${name} holds no checkpoint`);
      return new CheckpointedTree(generation, database, checkpoint);
    } catch (error) {
      await database.unpin();
      throw error;
    }
  }

  /** The last durable checkpoint. */
  get checkpoint(): Checkpoint {
    return this.#current;
  }

  /** Writes changes in one atomic synced batch. If a key occurs twice, the later change counts. */
  async write(changes: readonly KeyValueOperation[], checkpoint: Checkpoint): Promise<void> {
    assert(
      checkpoint.zxid >= this.#current.zxid,
      `checkpoint ${formatZxid(checkpoint.zxid)} is not before ${formatZxid(this.#current.zxid)}`,
    );
    this.#writing = this.#writeNow(changes, checkpoint);
    await this.#writing;
  }

  /** Reads all records into `loader`; throws DamagedError when they are not what was written. */
  async load(loader: StateLoader): Promise<void> {
    const { name } = this.database;
    await this.database.use(async (open) => {
      for await (const entries of open.iterate({ gt: CHECKPOINT_KEY })) {
        for (const [key, stored] of entries) loadRecord(name, key, stored, loader);
      }
    });
    finishRecords(name, this.#current, loader);
  }

  /** The tree is no longer used. It is destroyed once its last reader and writer have ended. */
  async markForDeletion(): Promise<void> {
    // A write that damage has ended was reported to its caller.
    await Promise.allSettled([this.#writing]);
    await this.database.markForDeletion();
  }

  async #writeNow(changes: readonly KeyValueOperation[], next: Checkpoint): Promise<void> {
    const batch = [...changes, putCheckpoint(next)];
    await this.database.use((open) => open.batch(batch, TREE_BATCH));
    this.#current = next;
  }
}

/** Ends the loading of all records. Throws DamagedError where they have another digest. */
export function finishRecords(name: string, saved: Checkpoint, loader: StateLoader): void {
  const { zxid, lastTime, level, digest } = saved;
  understood(name, () => loader.finishLoad({ zxid, lastTime, level }));
  const found = loader.digest();
  if (found === digest) return;
  throw new DamagedError(
    `${name} has digest ${found} at ${formatZxid(zxid)}, it was saved with ${digest}`,
  );
}

/** Returns the change as it is written, with its checksum. */
export function changeWithChecksum({
  key,
  value,
  hasChecksumRoom,
}: ChangedRecord): KeyValueOperation {
  if (value === null) return { type: 'del', key };
  const stored =
    hasChecksumRoom === true ? addChecksumInPlace(key, value) : addChecksum(key, value);
  return { type: 'put', key, value: stored };
}

/** Returns null if there is no checkpoint. Throws DamagedError if it cannot be read. */
export async function readCheckpoint(
  name: string,
  open: KeyValueDatabase,
): Promise<Checkpoint | null> {
  const stored = await open.get(CHECKPOINT_KEY);
  return stored === undefined ? null : parseCheckpoint(name, stored);
}

export function parseCheckpoint(name: string, stored: Uint8Array): Checkpoint {
  return verifiedJson(`the checkpoint of ${name}`, CHECKPOINT_KEY, stored, CHECKPOINT_SCHEMA);
}

/** How records of a tree are written. */
export const TREE_BATCH: BatchOptions = { sync: true, largeInFiles: true };

function putCheckpoint(checkpoint: Checkpoint): KeyValueOperation {
  const [key, value] = checkpointRecord(checkpoint);
  return { type: 'put', key, value };
}

/** The first record of a snapshot. */
export function checkpointRecord({ zxid, digest, lastTime, level }: Checkpoint): TreeRecord {
  const reserved = (level ?? LEVEL.first) >= LEVEL.reservedField ? { reserved: 0 } : {};
  const checkpoint: Checkpoint = { zxid, digest, lastTime, level, ...reserved };
  return [CHECKPOINT_KEY, jsonWithChecksum(CHECKPOINT_KEY, checkpoint)];
}

/** Throws DamagedError for a record that is not what was written. */
export function loadRecord(
  name: string,
  key: Uint8Array,
  stored: Uint8Array,
  loader: StateLoader,
): void {
  const value = checkRecord(name, key, stored);
  understood(recordAt(name, key), () => loader.load(key, value));
}

/** Returns the value without its checksum. Throws DamagedError if that is wrong. */
export function checkRecord(name: string, key: Uint8Array, stored: Uint8Array): Uint8Array {
  const value = verifiedPayload(key, stored);
  if (value !== null) return value;
  throw new DamagedError(`${recordAt(name, key)} has a wrong checksum`);
}

function recordAt(name: string, key: Uint8Array): string {
  return `the record '${new TextDecoder().decode(key)}' of ${name}`;
}

function understood(what: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof MarshallingError || error instanceof DamagedCheckpointError))
      throw error;
    throw new DamagedError(`${what} is not understood: ${error.message}`, { cause: error });
  }
}
