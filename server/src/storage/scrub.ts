/**
 * Scrubs a running member's disk: reads its checkpoint, the large values beside it, the files of
 * the databases, and its log, which are otherwise read only when needed.
 *
 * Yields the bytes read after each part, so that the caller sets the pace. Throws DamagedError for
 * anything that is not as it was written. Never changes anything.
 */
import {
  CHECKPOINT_KEY,
  type Checkpoint,
  type CheckpointedTree,
  checkRecord,
  finishRecords,
  loadRecord,
  parseCheckpoint,
} from './checkpoint.js';
import type { StateLoader } from './contract.js';
import { DamagedError } from './errors.js';
import { type KeyValueDatabase, sameKey } from './key-value.js';
import type { TxnLog } from './txn-log.js';

/**
 * LevelDB and value files keep what a view of them needs, so a view ends once so much was written
 * to the log since it began.
 */
const VIEW_WRITTEN_BYTES_MAX = 256 << 20;

/**
 * All records of the newest checkpoint, with their checksums. While little is written, as
 * `writtenBytes` says, also their digest: it needs one view of all of them.
 */
export async function* scrubTree(
  tree: CheckpointedTree,
  checker: StateLoader,
  writtenBytes: () => number,
): AsyncGenerator<number> {
  const { name } = tree.database;
  const open = await tree.database.acquire();
  try {
    yield* open.checkFiles();
    let after: Uint8Array | null = null;
    do {
      const view: View = { name, after, checker: after === null ? checker : null };
      after = yield* scrubView(open, view, writtenBytes);
    } while (after !== null);
  } finally {
    await tree.database.release();
  }
}

interface View {
  readonly name: string;
  /** The last key that was read; null at the beginning. */
  readonly after: Uint8Array | null;
  /** Null if records before `after` come from an earlier view. */
  readonly checker: StateLoader | null;
}

/** Returns the last key that it has read, and null once there are no more. */
async function* scrubView(
  open: KeyValueDatabase,
  { name, after, checker }: View,
  writtenBytes: () => number,
): AsyncGenerator<number, Uint8Array | null> {
  const begunAtBytes = writtenBytes();
  const snapshot = open.snapshot();
  let saved: Checkpoint | null = null;
  try {
    for await (const entries of snapshot.iterate(after === null ? {} : { gt: after })) {
      let bytes = 0;
      let last: Uint8Array | null = null;
      for (const [key, stored] of entries) {
        bytes += key.length + stored.length;
        last = key;
        if (sameKey(key, CHECKPOINT_KEY)) saved = parseCheckpoint(name, stored);
        else if (checker !== null) loadRecord(name, key, stored, checker);
        else checkRecord(name, key, stored);
      }
      yield bytes;
      if (last !== null && writtenBytes() - begunAtBytes > VIEW_WRITTEN_BYTES_MAX) return last;
    }
  } finally {
    await snapshot.close();
  }
  if (checker === null) return null;
  if (saved === null) throw new DamagedError(`${name} holds no checkpoint`);
  finishRecords(name, saved, checker);
  return null;
}

/**
 * All of the log that is durable now. Only the part that is being read is kept from being purged.
 * Throws the errors of TxnLog.read, too.
 */
export async function* scrubLog(log: TxnLog): AsyncGenerator<number> {
  const end = log.last;
  for (let at = log.base; at < end; ) {
    at = Math.max(at, log.base);
    const through = Math.min(end, log.holderOf(at)?.last ?? end);
    if (through <= at) return;
    for await (const batch of log.read(at, through)) yield batch.bytes.length;
    at = through;
  }
}
