/**
 * The tree of one generation on disk: the records of the state at exactly one zxid.
 *
 * Owns the database `tree-<generation>`. Its checkpoint record (zxid, digest, time) is written in
 * the same synced batch as the changed records, so tree and zxid never disagree. All values are
 * sealed. Keys: `c` the checkpoint, `d...` and `p...` blocks of znodes, `s...` sessions (state/
 * makes all but the first).
 */
import { assert, formatZxid, MarshallingError } from '@rookery/protocol';
import { z } from 'zod';
import { DamagedCheckpointError } from '../state/damage.js';
import type { StateLoader } from './contract.js';
import { DamagedError } from './errors.js';
import type { KeyValueDatabase, KeyValueOperation, KeyValueStore } from './key-value.js';
import { seal, sealInPlace, sealJson, unseal, unsealJson } from './records.js';
import { type SharedDatabase, SharedResource } from './shared-resource.js';

const CHECKPOINT_SCHEMA = z.object({
  zxid: z.number().int().min(0),
  digest: z.string(),
  /** The time of the last transaction, ms since 1970. */
  lastTime: z.number(),
  /** The ensemble level; without it, the first one. */
  level: z.number().int().min(1).optional(),
});

export type Checkpoint = Readonly<z.infer<typeof CHECKPOINT_SCHEMA>>;

export const CHECKPOINT_KEY = Uint8Array.of(0x63);
const NAME = /^tree-(\d+)$/;

export interface ChangedRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  /** There is room for a seal right before the value, in memory of its own. */
  readonly isSealable?: true;
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
  private current: Checkpoint;
  private writing: Promise<void> = Promise.resolve();

  private constructor(generation: number, database: SharedDatabase, current: Checkpoint) {
    this.generation = generation;
    this.database = database;
    this.current = current;
  }

  /** A tree without records, durable when resolved. */
  static async create(
    store: KeyValueStore,
    generation: number,
    checkpoint: Checkpoint,
  ): Promise<CheckpointedTree> {
    const database = new SharedResource(store, treeName(generation));
    const open = await database.pin();
    await open.batch([putCheckpoint(checkpoint)], { sync: true });
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

  /** The last durable one. */
  get checkpoint(): Checkpoint {
    return this.current;
  }

  /** One atomic synced batch of sealed changes. Where a key comes twice, the later one counts. */
  async write(changes: readonly KeyValueOperation[], checkpoint: Checkpoint): Promise<void> {
    assert(
      checkpoint.zxid >= this.current.zxid,
      `checkpoint ${formatZxid(checkpoint.zxid)} is not before ${formatZxid(this.current.zxid)}`,
    );
    this.writing = this.writeNow(changes, checkpoint);
    await this.writing;
  }

  /** Reads all records into `loader`; throws DamagedError when they are not what was written. */
  async load(loader: StateLoader): Promise<void> {
    const { name } = this.database;
    await this.database.use(async (open) => {
      for await (const entries of open.iterate({ gt: CHECKPOINT_KEY })) {
        for (const [key, sealed] of entries) loadRecord(name, key, sealed, loader);
      }
    });
    const { zxid, lastTime, level, digest } = this.current;
    understood(name, () => loader.finishLoad({ zxid, lastTime, level }));
    const found = loader.digest();
    if (found === digest) return;
    throw new DamagedError(
      `${name} has digest ${found} at ${formatZxid(zxid)}, it was saved with ${digest}`,
    );
  }

  /** It is garbage from now on; destroyed once nobody reads or writes it. */
  async markForDeletion(): Promise<void> {
    await this.writing;
    await this.database.markForDeletion();
  }

  private async writeNow(changes: readonly KeyValueOperation[], next: Checkpoint): Promise<void> {
    const batch = [...changes, putCheckpoint(next)];
    await this.database.use((open) => open.batch(batch, { sync: true }));
    this.current = next;
  }
}

/** The change as it is written. */
export function sealChange({ key, value, isSealable }: ChangedRecord): KeyValueOperation {
  if (value === null) return { type: 'del', key };
  const sealed = isSealable === true ? sealInPlace(key, value) : seal(key, value);
  return { type: 'put', key, value: sealed };
}

/** Null when there is none; throws DamagedError when it is not readable. */
export async function readCheckpoint(
  name: string,
  open: KeyValueDatabase,
): Promise<Checkpoint | null> {
  const sealed = await open.get(CHECKPOINT_KEY);
  return sealed === undefined ? null : parseCheckpoint(name, sealed);
}

export function parseCheckpoint(name: string, sealed: Uint8Array): Checkpoint {
  return unsealJson(`the checkpoint of ${name}`, CHECKPOINT_KEY, sealed, CHECKPOINT_SCHEMA);
}

function putCheckpoint({ zxid, digest, lastTime, level }: Checkpoint): KeyValueOperation {
  const checkpoint: Checkpoint = { zxid, digest, lastTime, level };
  return { type: 'put', key: CHECKPOINT_KEY, value: sealJson(CHECKPOINT_KEY, checkpoint) };
}

function loadRecord(name: string, key: Uint8Array, sealed: Uint8Array, loader: StateLoader): void {
  const value = unseal(key, sealed);
  const at = `the record '${new TextDecoder().decode(key)}' of ${name}`;
  if (value === null) throw new DamagedError(`${at} has a wrong checksum`);
  understood(at, () => loader.load(key, value));
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
