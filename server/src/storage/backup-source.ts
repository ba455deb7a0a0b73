/**
 * Opens what a backup of a running member is made from: its newest checkpoint, and the log after it
 * up to a zxid that the member has applied.
 *
 * Both are read from disk, as for a learner, while the member serves; its state in memory is not
 * touched. The log is not purged until `close`.
 */
import type { ProposalBatch, Zxid } from '@rookery/protocol';
import { DamagedError, type Storage, type TreeRecord } from './index.js';

export interface BackupSource {
  /** The zxid of the state that checkpoint and log give together. */
  readonly zxid: Zxid;
  /** The digest of that state; null where the member's memory is ahead of its disk. */
  readonly digest: string | null;
  /** The records of the checkpoint, in chunks of bounded size. They are read once, first. */
  records(): AsyncIterable<readonly TreeRecord[]>;
  /** The log behind it. It is read once, after the records. */
  batches(): AsyncIterable<ProposalBatch>;
  /** Lets the log be purged. Safe to call again. */
  close(): Promise<void>;
}

/** The state in the member's memory. */
export interface Applied {
  readonly zxid: Zxid;
  readonly digest: string;
}

/** Repairs damage that a backup meets; see driver/damage-repair.ts. */
export interface Repairs {
  readonly damage: { readonly reason: string } | null;
  onDamage(error: DamagedError): void;
}

/**
 * Rejects while the member's disk has no sound tree. A backup that meets damage fails and has the
 * damage repaired, so it can be retried afterwards.
 */
export async function openBackup(
  storage: Storage,
  applied: Applied,
  repairs: Repairs,
): Promise<BackupSource> {
  if (repairs.damage !== null) {
    throw new DamagedError(
      `the disk of this member is being repaired (${repairs.damage.reason}): ` +
        'take the backup from another member, or again in a minute',
    );
  }
  const source = await reported(repairs, () => storage.openSnapshot());
  // What was applied may not be written here yet, where others were a majority without this disk.
  const zxid = Math.max(source.zxid, Math.min(applied.zxid, storage.last));
  return {
    zxid,
    digest: zxid === applied.zxid ? applied.digest : null,
    records: () => reporting(repairs, source.records()),
    batches: () => reporting(repairs, storage.readHistory(source.zxid, zxid)),
    close: () => source.close(),
  };
}

async function* reporting<T>(repairs: Repairs, source: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await reported(repairs, () => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

async function reported<T>(repairs: Repairs, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof DamagedError) repairs.onDamage(error);
    throw error;
  }
}
