/**
 * What can go wrong with a disk, by class: the operator's mistakes, damage, and faults of a write.
 *
 * The first kind ends a start with a message and no stack; damage makes a member rejoin by a
 * snapshot; a StorageFault is fatal: a failed sync is never retried.
 */
import type { Zxid } from '@rookery/protocol';
import { OperatorError } from '../operator-error.js';

/** Another process has the directory open. */
export class StoreLockedError extends OperatorError {
  override readonly name = 'StoreLockedError';
}

/** The directory belongs to another member. */
export class IdentityError extends OperatorError {
  override readonly name = 'IdentityError';
}

/** The directory was written by a version of Rookery that this one does not understand. */
export class FormatError extends OperatorError {
  override readonly name = 'FormatError';
}

/** The directory cannot be created, read or written. */
export class DirectoryError extends OperatorError {
  override readonly name = 'DirectoryError';
}

/** The disk holds something that was never written so: a bad checksum, a gap, a wrong digest. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** A record of a snapshot arrived other than it was sent, or the snapshot is not complete. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError';
}

/** What a part of the log held cannot be read any more. */
export class UnreadableHistoryError extends Error {
  override readonly name = 'UnreadableHistoryError';
  /** The last zxid of that part. */
  readonly through: Zxid;

  constructor(through: Zxid, cause: Error) {
    super(cause.message, { cause });
    this.through = through;
  }
}

/** The log that was asked for has been purged or truncated, or was dropped, as it is damaged. */
export class HistoryGoneError extends Error {
  override readonly name = 'HistoryGoneError';
}

/** A read or write of the disk failed; `reason` tells a full disk from the rest. */
export class StorageFault extends Error {
  override readonly name = 'StorageFault';
  readonly reason: 'disk full' | 'input/output';

  constructor(reason: 'disk full' | 'input/output', message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
