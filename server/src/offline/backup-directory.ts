/**
 * Lists the backups in a directory, and decides which of them a rule keeps.
 *
 * A backup is a regular file with the name `snapshot.<zxid>.gz`. A link or a directory of that name
 * would take the place of a backup in the rule, so neither counts. All other entries are left
 * alone. Rejects with the system's errors.
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@rookery/protocol';
import { checksumPath } from './snapshot-output.js';

export interface Backup {
  readonly path: string;
  readonly zxid: bigint;
  readonly bytes: number;
  /** ms since 1970. */
  readonly writtenMs: number;
}

export interface KeepRule {
  /** The number of newest backups that stay. */
  readonly newest: number;
  /** Of each of this many days (24 hours each, back from now) the newest backup stays, too. */
  readonly days: number;
}

const NAME = /^snapshot\.([\da-f]{1,16})\.gz$/;
const DAY_MS = 24 * 3_600_000;

export interface FoundBackups {
  /** In ascending order of their zxids. */
  readonly backups: readonly Backup[];
  /** The paths of entries that have the name of a backup and are no regular files. */
  readonly passedOver: readonly string[];
}

export async function backupsIn(directory: string): Promise<FoundBackups> {
  const backups: Backup[] = [];
  const passedOver: string[] = [];
  for (const name of await readdir(directory)) {
    const [, digits] = NAME.exec(name) ?? [];
    if (digits === undefined) continue;
    const path = join(directory, name);
    // Another process may prune the same directory.
    const found = await lstat(path).catch(() => null);
    if (found === null) continue;
    const { size, mtimeMs } = found;
    if (!found.isFile()) passedOver.push(path);
    else backups.push({ path, zxid: BigInt(`0x${digits}`), bytes: size, writtenMs: mtimeMs });
  }
  backups.sort((a, b) => (a.zxid < b.zxid ? -1 : 1));
  return { backups, passedOver };
}

/**
 * Returns the backups that the rule does not keep, oldest first. Times decide, not zxids: those of
 * an ensemble that was created again in the same place are lower than those of the one before. A
 * date that is to come is that of a clock that was wrong, and counts as older than all others: such
 * a backup must not take the place of each one that is written after it.
 */
export function expiredBackups(
  backups: readonly Backup[],
  rule: KeepRule,
  nowMs: number,
): readonly Backup[] {
  const byTime = backups.toSorted((a, b) => {
    const aheadFirst = Number(isAhead(b, nowMs)) - Number(isAhead(a, nowMs));
    return aheadFirst === 0 ? a.writtenMs - b.writtenMs : aheadFirst;
  });
  const kept = new Set(byTime.slice(Math.max(0, backups.length - rule.newest)));
  const days = new Set<number>();
  for (const backup of byTime.toReversed()) {
    const day = Math.floor((nowMs - backup.writtenMs) / DAY_MS);
    if (day >= rule.days || days.has(day)) continue;
    days.add(day);
    kept.add(backup);
  }
  return byTime.filter((backup) => !kept.has(backup));
}

/** The clock of a shared disk may be ahead a little. */
function isAhead({ writtenMs }: Backup, nowMs: number): boolean {
  return writtenMs > nowMs + DAY_MS;
}

/** A file that is still there, and the reason. */
export interface LeftFile {
  readonly path: string;
  readonly reason: string;
}

/**
 * Removes files with their checksums, and returns those that cannot be removed, such as immutable
 * ones. One of them keeps none of the others.
 */
export async function removeBackups(
  files: readonly { readonly path: string }[],
): Promise<readonly LeftFile[]> {
  const left: LeftFile[] = [];
  for (const { path } of files) {
    try {
      await rm(path, { force: true });
      await rm(checksumPath(path), { force: true });
    } catch (error) {
      left.push({ path, reason: errorMessage(error) });
    }
  }
  return left;
}
