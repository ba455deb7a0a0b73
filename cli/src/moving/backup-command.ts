/**
 * `rookery backup save | list | verify | prune` works on backups, which are snapshots in
 * ZooKeeper's format, compressed, in one directory, named by their zxids.
 *
 * Exit code 0: done, or sound; 1: a backup is damaged, or one that the rule does not keep cannot be
 * removed; 2: a mistake of the caller.
 */

import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { errorMessage } from '@rookery/protocol';
import {
  backupsIn,
  checkChecksum,
  collectRarely,
  expiredBackups,
  type FoundBackups,
  type KeepRule,
  lowerPriority,
  OperatorError,
  openDirectoryProblem,
  readBackup,
  readSnapshotFile,
  removeBackups,
  SnapshotFileError,
  type StateHolder,
  whileMemberWaits,
  writeSnapshot,
  zxidName,
} from '@rookery/server';
import { refusal } from '../command/refusal.js';
import { countText } from '../command/values.js';
import { httpUrl, userHeaders } from '../http/http.js';
import { visible } from '../terminal/visible-text.js';
import { type MemberOfFile, readMember } from './stopped-member.js';

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
  // A member on this machine goes on as if nothing happened.
  lowerPriority();
  collectRarely();
  const member =
    'url' in from ? await whileMemberWaits(() => fetchState(from)) : await readMember(from);
  const path = join(directory, `snapshot.${zxidName(member)}.gz`);
  const { znodes, bytes } = await writeSnapshot(member, path, { withChecksum: true });
  const size = `${countText(znodes, 'znode')}, ${bytes} bytes`;
  process.stdout.write(`saved and verified: ${path}, ${size}\n`);
  await warnOfOpenDirectory(path);
  return 0;
}

/** Others could have replaced the file since, or could do so later. */
async function warnOfOpenDirectory(path: string): Promise<void> {
  const problem = await openDirectoryProblem(path);
  if (problem !== null) process.stderr.write(`rookery: ${problem}\n`);
}

export async function runBackupList(directory: string): Promise<number> {
  const { backups } = await listed(directory);
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
    const { bytes, digest, nodes } = await readSnapshotFile(file, () => undefined);
    if (digest === null) throw new SnapshotFileError('it has no digest', bytes);
    if (digest.kept !== digest.computed) {
      throw new SnapshotFileError('its digest is not that of its znodes', bytes);
    }
    const beside = checksum === 'equal' ? 'SHA-256 equal' : 'no SHA-256 beside it';
    const facts = `${countText(nodes, 'znode')}, digest ${hex(digest.kept)}, ${beside}`;
    process.stdout.write(`sound: ${file}, ${facts}\n`);
    return 0;
  } catch (error) {
    if (error instanceof SnapshotFileError) {
      process.stderr.write(visible(`rookery: ${file} is damaged: ${error.message}\n`));
      return 1;
    }
    throw asMistake(file, error);
  }
}

/** Removes what the rule does not keep; one that cannot be removed keeps none of the others. */
export async function runBackupPrune(directory: string, rule: KeepRule): Promise<number> {
  const { backups } = await listed(directory);
  const expired = expiredBackups(backups, rule, Date.now());
  const left = await removeBackups(expired);
  const reasons = new Map(left.map(({ path, reason }) => [path, reason]));
  for (const { path } of expired) {
    const reason = reasons.get(path);
    if (reason === undefined) process.stdout.write(`removed: ${path}\n`);
    else process.stderr.write(`rookery: ${path} cannot be removed: ${reason}\n`);
  }
  process.stdout.write(`kept: ${backups.length - expired.length + left.length}\n`);
  return left.length === 0 ? 0 : 1;
}

/** Reports what has the name of a backup and is none. */
async function listed(directory: string): Promise<FoundBackups> {
  const found = await backupsIn(directory).catch((error) => {
    throw asMistake(directory, error);
  });
  for (const path of found.passedOver) {
    process.stderr.write(
      `rookery: ${path} is not a regular file, so it is no backup: left alone\n`,
    );
  }
  return found;
}

function asMistake(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'EISDIR') {
    return new OperatorError(`${path} is a directory: name one of the backups in it`);
  }
  return new OperatorError(`${path} cannot be read: ${error.message}`, { cause: error });
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/**
 * Gets the state of a running member through its admin port.
 *
 * The user comes from the environment (http/http.ts). The received state is verified by its
 * digest before it is used.
 */
interface RunningMember {
  /** `http://host:port` of the member's admin port. */
  readonly url: string;
}

/** A member sends while its disk reads, so silence means that it hangs. */
const SILENCE_MS = 60_000;

/** Rejects with OperatorError. */
async function fetchState({ url }: RunningMember): Promise<StateHolder> {
  const address = new URL('/api/v1/backup', httpUrl(url));
  try {
    const response = await ask(address);
    if (response.statusCode === 200) return { state: await readBackup(response) };
    throw await refusal(url, response.statusCode ?? 0, response);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = errorMessage(error);
    throw new OperatorError(`${url} sent no backup: ${reason}`, { cause: error });
  }
}

function ask(url: URL): Promise<IncomingMessage> {
  const headers = userHeaders(process.env);
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, timeout: SILENCE_MS }, resolve);
    request.on('timeout', () => request.destroy(new Error(`silent for ${SILENCE_MS} ms`)));
    request.on('error', reject);
  });
}
