/**
 * Reads the tree of one checkpoint for a learner, in chunks, while further checkpoints are made.
 *
 * Records are sent as they are on disk, with their checksums, so that the learner verifies what
 * this disk had. The checkpoint record comes first, and a record with the number of all others
 * last.
 */
import { assert, type Zxid } from '@rookery/protocol';
import { type CheckpointedTree, parseCheckpoint } from './checkpoint.js';
import type { SnapshotSource, TreeRecord } from './contract.js';
import { DamagedError } from './errors.js';
import type { KeyValueSnapshot } from './key-value.js';
import { jsonWithChecksum, verifiedPayload } from './records.js';
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
