/**
 * Defines the errors of storage, and turns errors of the system and of LevelDB into them.
 *
 * A mistake of the operator ends the start with a message. Damage makes a member rejoin with a
 * snapshot. A StorageFault is fatal, because a failed sync is never retried. This is the only place
 * that reads the text of LevelDB's errors. The lowest layer of the log's files and the removal of
 * files throw the system's own errors.
 */
import type { Zxid } from '@rookery/protocol';
import { OperatorError } from '../config/operator-error.js';
import { LEVEL } from '../state/level.js';

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

/** A read or write of the disk failed; `reason` distinguishes a full disk from other faults. */
export class StorageFault extends Error {
  override readonly name = 'StorageFault';
  readonly reason: 'disk full' | 'input/output';

  constructor(reason: 'disk full' | 'input/output', message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

const FULL_CODES = ['ENOSPC', 'EDQUOT'];
const FULL = /No space left on device|Disk quota exceeded/;

/** Runs `action` and turns everything that it throws into a StorageFault. */
export async function orFault<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw faultOf(path, error);
  }
}

/** Returns the error itself if it is a StorageFault. */
export function faultOf(path: string, error: unknown): StorageFault {
  if (error instanceof StorageFault) return error;
  const reason = isFull(error) ? 'disk full' : 'input/output';
  return new StorageFault(reason, `${reason} error at ${path}: ${textOf(error)}`, error);
}

export function isFull(error: unknown): boolean {
  return (
    codesOf(error).some((code) => FULL_CODES.includes(String(code))) || FULL.test(textOf(error))
  );
}

/** The messages along the chain of causes, without repetitions. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = textOf(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}

export function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  return ['code' in error ? error.code : undefined, ...codesOf(error.cause)];
}

/**
 * How LevelDB reports a table that is cut short, a file that is named but missing, and a sector
 * that cannot be read.
 */
const UNREADABLE = new RegExp(
  String.raw`(?:\.(?:ldb|sst|log)|CURRENT|MANIFEST-\d+): ` +
    '(?:Invalid argument|Input/output error|No such file or directory)',
);

/** Runs `action` and turns everything that it throws into DamagedError or StorageFault. */
export async function guarded<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof DamagedError) throw error;
    if (isDamage(error)) {
      throw new DamagedError(`${path} is damaged: ${textOf(error)}`, { cause: error });
    }
    throw faultOf(path, error);
  }
}

/** Whether a file exists, or is named, but cannot be what was written. */
export function isDamage(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_CORRUPTION') || isUnreadable(textOf(error));
}

function isUnreadable(text: string): boolean {
  return text.includes('IO error: ') && UNREADABLE.test(text);
}

export function isLocked(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_LOCKED');
}

/** Throws FormatError for an unknown level. Data without a level are older than levels. */
export function refuseHigherLevel(level: number | undefined, levelMax: number): void {
  const needed = level ?? LEVEL.first;
  if (needed <= levelMax) return;
  throw new FormatError(
    `the ensemble is at level ${needed}, this release knows levels up to ${levelMax}: ` +
      'start this member with the release that the others run, or a newer one',
  );
}
