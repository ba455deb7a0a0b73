/**
 * `rookery backup save | list | verify | prune` works on backups, which are snapshots in
 * ZooKeeper's format, compressed, in one directory, named by their zxids.
 *
 * Exit code 0: done, or sound; 1: a backup is damaged; 2: a mistake of the caller.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError, readSnapshot, readSnapshotFile, SnapshotFileError } from '@rookery/server';
import { checkChecksum, checksumPath } from './checksum-file.js';
import { fetchState, type RunningMember } from './running-member.js';
import { type MemberOfFile, readMember, writeSnapshot, zxidName } from './snapshot-output.js';

interface Backup {
  readonly path: string;
  readonly zxid: bigint;
  readonly bytes: number;
  readonly writtenMs: number;
}

const NAME = /^snapshot\.([\da-f]{1,16})\.gz$/;

/** Saves a backup. Throws OperatorError unless either a running or a stopped member is named. */
export function memberToSave(options: {
  readonly url?: string;
  readonly config?: string;
  readonly id?: number;
}): MemberOfFile | RunningMember {
  const { url, config, id } = options;
  if (url !== undefined && config === undefined && id === undefined) return { url };
  if (url === undefined && config !== undefined && id !== undefined) return { config, id };
  throw new OperatorError('give --url for a running member, or --config and --id for another');
}

/** Each command resolves with the exit code. */
export async function runBackupSave(
  from: MemberOfFile | RunningMember,
  directory: string,
): Promise<number> {
  const member = 'url' in from ? await fetchState(from) : await readMember(from);
  const path = join(directory, `snapshot.${zxidName(member)}.gz`);
  const { znodes, bytes } = await writeSnapshot(member, path, { withChecksum: true });
  process.stdout.write(`saved and verified: ${path}, ${znodes} znodes, ${bytes} bytes\n`);
  return 0;
}

export async function runBackupList(directory: string): Promise<number> {
  const backups = await backupsIn(directory);
  for (const { path, zxid, bytes, writtenMs } of backups) {
    const written = new Date(writtenMs).toISOString();
    process.stdout.write(`${written}  0x${zxid.toString(16)}  ${bytes} bytes  ${path}\n`);
  }
  if (backups.length === 0) process.stdout.write(`${directory} holds no backup\n`);
  return 0;
}

/** A backup without a digest, or one whose digest differs, is not sound either. */
export async function runBackupVerify(file: string): Promise<number> {
  try {
    const checksum = await checkChecksum(file);
    const { bytes } = await readSnapshotFile(file);
    const { digest, nodes } = readSnapshot(bytes, () => undefined);
    if (digest === null) throw new SnapshotFileError('it has no digest', bytes.length);
    if (digest.kept !== digest.computed) {
      throw new SnapshotFileError('its digest is not that of its znodes', bytes.length);
    }
    const beside = checksum === 'equal' ? 'SHA-256 equal' : 'no SHA-256 beside it';
    const facts = `${nodes} znodes, digest ${hex(digest.kept)}, ${beside}`;
    process.stdout.write(`sound: ${file}, ${facts}\n`);
    return 0;
  } catch (error) {
    if (error instanceof SnapshotFileError) {
      process.stderr.write(`rookery: ${file} is damaged: ${error.message}\n`);
      return 1;
    }
    throw asMistake(file, error);
  }
}

/** Removes all but the newest backups. */
export async function runBackupPrune(directory: string, keep: number): Promise<number> {
  const backups = await backupsIn(directory);
  const old = backups.slice(0, Math.max(0, backups.length - keep));
  for (const { path } of old) {
    await rm(path);
    await rm(checksumPath(path), { force: true });
    process.stdout.write(`removed: ${path}\n`);
  }
  process.stdout.write(`kept: ${backups.length - old.length}\n`);
  return 0;
}

/** In ascending order of their zxids. */
async function backupsIn(directory: string): Promise<readonly Backup[]> {
  const backups: Backup[] = [];
  try {
    for (const name of await readdir(directory)) {
      const [, digits] = NAME.exec(name) ?? [];
      if (digits === undefined) continue;
      const path = join(directory, name);
      const { size, mtimeMs } = await stat(path);
      backups.push({ path, zxid: BigInt(`0x${digits}`), bytes: size, writtenMs: mtimeMs });
    }
  } catch (error) {
    throw asMistake(directory, error);
  }
  return backups.sort((a, b) => (a.zxid < b.zxid ? -1 : 1));
}

function asMistake(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new OperatorError(`${path} cannot be read: ${error.message}`, { cause: error });
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
