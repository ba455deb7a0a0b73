/**
 * The errors of storage: mistakes of the operator, damage, and faults of reads and writes.
 *
 * A mistake ends the start with a message. Damage makes a member rejoin with a snapshot. A
 * StorageFault is fatal, because a failed sync is never retried.
 */
import type { Zxid } from '@rookery/protocol';
import { OperatorError } from '../config/operator-error.js';

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

/** The disk has content that was never written: a wrong checksum, a gap, a wrong digest. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** A repair no longer fits what is in use: a snapshot or a truncation has come in between. */
export class RepairOutdatedError extends Error {
  override readonly name = 'RepairOutdatedError';
}

/** A record of a snapshot is damaged, or the snapshot is not complete. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError';
}

/** A part of the log cannot be read any more. */
export class UnreadableHistoryError extends Error {
  override readonly name = 'UnreadableHistoryError';
  /** The last zxid of the unreadable part. */
  readonly through: Zxid;

  constructor(through: Zxid, cause: Error) {
    super(cause.message, { cause });
    this.through = through;
  }
}

/** The requested part of the log was purged, truncated, or dropped because of damage. */
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
