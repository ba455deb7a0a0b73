/**
 * Reads the tree of one checkpoint as a snapshot for a learner, and writes it into a spare
 * generation there.
 *
 * Records are sent in chunks as they are on disk, with their checksums, so that the learner
 * verifies what the leader's disk had, while further checkpoints are made. The checkpoint record
 * comes first, and a record with the number of all others last. The learner checks all of this.
 * Each of its writes is synced by itself: LevelDB does not promise that a later synced batch saves
 * an earlier one when it changed its write-ahead file in between. Never touches the tree in use.
 */
import { assert, formatZxid, type Zxid } from '@rookery/protocol';
import { z } from 'zod';
import {
  CHECKPOINT_KEY,
  type Checkpoint,
  CheckpointedTree,
  parseCheckpoint,
  TREE_BATCH,
} from './checkpoint.js';
import type { SnapshotSink, SnapshotSource, StateLoader, TreeRecord } from './contract.js';
import { DamagedError, SnapshotDamagedError } from './errors.js';
import {
  type KeyValueOperation,
  type KeyValueSnapshot,
  type KeyValueStore,
  sameKey,
} from './key-value.js';
import { jsonWithChecksum, verifiedJson, verifiedPayload } from './records.js';
import type { TxnLog } from './txn-log.js';

/** The key of the last record. It sorts after all others and never exists on disk. */
export const TRAILER_KEY = Uint8Array.of(0x7a);

export async function openSnapshotSource(
  tree: CheckpointedTree,
  log: TxnLog,
  chunkBytesMax: number,
): Promise<SnapshotSource> {
  // Protected first, because the log could otherwise be purged after a further checkpoint.
  const protection = log.protect(tree.checkpoint.zxid);
  const open = await tree.database.acquire();
  const snapshot = open.snapshot();
  const { name } = tree.database;
  const zxid = await firstZxid(name, snapshot);
  let state: 'open' | 'reading' | 'closed' = 'open';
  return {
    zxid,
    records() {
      assert(state === 'open', `a snapshot source is read once, this one is ${state}`);
      state = 'reading';
      return chunks(name, snapshot, chunkBytesMax);
    },
    async close() {
      if (state === 'closed') return;
      state = 'closed';
      log.unprotect(protection);
      await snapshot.close();
      await tree.database.release();
    },
  };
}

async function firstZxid(name: string, snapshot: KeyValueSnapshot): Promise<Zxid> {
  for await (const [record] of snapshot.iterate({ limit: 1 })) {
    if (record !== undefined) return parseCheckpoint(name, record[1]).zxid;
  }
  throw new DamagedError(`${name} holds no checkpoint`);
}

async function* chunks(
  name: string,
  snapshot: KeyValueSnapshot,
  chunkBytesMax: number,
): AsyncGenerator<readonly TreeRecord[]> {
  let chunk: TreeRecord[] = [];
  let bytes = 0;
  let count = 0;
  for await (const entries of snapshot.iterate({})) {
    for (const entry of entries) {
      const [key, value] = entry;
      if (verifiedPayload(key, value) === null) {
        throw new DamagedError(`a record of ${name} has a wrong checksum`);
      }
      chunk.push(entry);
      count += 1;
      bytes += key.length + value.length;
      if (bytes < chunkBytesMax) continue;
      yield chunk;
      chunk = [];
      bytes = 0;
    }
  }
  chunk.push(trailerRecord(count));
  yield chunk;
}

/** The last record of a snapshot, which names the number of all others. */
export function trailerRecord(count: number): TreeRecord {
  return [TRAILER_KEY, jsonWithChecksum(TRAILER_KEY, { count })];
}

const TRAILER_SCHEMA = z.object({ count: z.number().int() });

export class GenerationSink implements SnapshotSink {
  readonly generation: number;
  readonly #store: KeyValueStore;
  #tree: CheckpointedTree | null = null;
  #count = 0;
  #announced: number | null = null;
  #state: 'open' | 'installed' | 'abandoned' = 'open';
  #tail: Promise<void> = Promise.resolve();

  constructor(store: KeyValueStore, generation: number) {
    this.#store = store;
    this.generation = generation;
  }

  /** False once it was installed, or a later snapshot has taken its place. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  async write(records: readonly TreeRecord[]): Promise<void> {
    assert(this.#state === 'open', `a snapshot is written before it is ${this.#state}`);
    this.#tail = this.#tail.then(() => this.#writeNow(records));
    try {
      await this.#tail;
    } catch (error) {
      throw asDamagedSnapshot(error);
    }
  }

  async abandon(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'abandoned';
    await Promise.allSettled([this.#tail]);
    if (this.#tree !== null) await this.#tree.markForDeletion();
  }

  async verify(zxid: Zxid, loader: StateLoader): Promise<void> {
    assert(this.#state === 'open', `a snapshot is verified before it is ${this.#state}`);
    await this.#tail;
    const tree = this.#whole(zxid);
    try {
      await tree.load(loader);
    } catch (error) {
      throw asDamagedSnapshot(error);
    }
  }

  /** Returns the complete, durable tree. Throws SnapshotDamagedError if it is not at `zxid`. */
  async finish(zxid: Zxid): Promise<CheckpointedTree> {
    assert(this.#state === 'open', `a snapshot is installed once, this one is ${this.#state}`);
    await this.#tail;
    const tree = this.#whole(zxid);
    this.#state = 'installed';
    return tree;
  }

  #whole(zxid: Zxid): CheckpointedTree {
    const tree = this.#tree;
    if (tree === null || this.#announced !== this.#count) {
      throw new SnapshotDamagedError(
        `the snapshot holds ${this.#count} records of ${this.#announced ?? 'an unknown number'}`,
      );
    }
    const at = tree.checkpoint.zxid;
    if (at !== zxid) {
      throw new SnapshotDamagedError(
        `the snapshot is of ${formatZxid(at)}, to be installed was ${formatZxid(zxid)}`,
      );
    }
    return tree;
  }

  async #writeNow(records: readonly TreeRecord[]): Promise<void> {
    const operations: KeyValueOperation[] = [];
    for (const [key, value] of records) {
      const payload = verifiedPayload(key, value);
      if (payload === null) throw new SnapshotDamagedError('a record has a wrong checksum');
      if (this.#announced !== null) throw new SnapshotDamagedError('a record after the last one');
      if (sameKey(key, TRAILER_KEY)) {
        this.#announced = verifiedJson('the last record', key, value, TRAILER_SCHEMA).count;
        continue;
      }
      this.#count += 1;
      if (sameKey(key, CHECKPOINT_KEY)) await this.#start(parseCheckpoint('the snapshot', value));
      else operations.push({ type: 'put', key, value });
    }
    const tree = this.#tree;
    if (tree === null) throw new SnapshotDamagedError('the checkpoint is not the first record');
    if (operations.length === 0) return;
    await tree.database.use((open) => open.batch(operations, TREE_BATCH));
  }

  async #start(checkpoint: Checkpoint): Promise<void> {
    if (this.#tree !== null) throw new SnapshotDamagedError('a second checkpoint record');
    this.#tree = await CheckpointedTree.create(this.#store, this.generation, checkpoint);
  }
}

/** Damage of a snapshot comes from the network or the sender and not from this disk. */
function asDamagedSnapshot(error: unknown): unknown {
  if (!(error instanceof DamagedError)) return error;
  return new SnapshotDamagedError(error.message, { cause: error });
}
