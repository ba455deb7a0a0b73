/**
 * What a backup of a running member is made of: its newest checkpoint, and the log behind it up to
 * a zxid that the member has applied.
 *
 * Both are read from the disk, as for a learner, while the member goes on; nothing of its state in
 * memory is touched. The log is kept from being purged until `close`.
 */
import type { ProposalBatch, Zxid } from '@rookery/protocol';
import type { Storage, TreeRecord } from './storage/index.js';

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

/** Rejects while the member's disk has no sound tree. */
export async function openBackup(storage: Storage, applied: Applied): Promise<BackupSource> {
  const source = await storage.openSnapshot();
  // What was applied may not be written here yet, where others were a majority without this disk.
  const zxid = Math.max(source.zxid, Math.min(applied.zxid, storage.last));
  return {
    zxid,
    digest: zxid === applied.zxid ? applied.digest : null,
    records: () => source.records(),
    batches: () => storage.readHistory(source.zxid, zxid),
    close: () => source.close(),
  };
}
