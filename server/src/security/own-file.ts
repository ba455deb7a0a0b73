/**
 * Makes files in directories that others may be able to write, such as the one for backups.
 *
 * Someone who can write a directory can put a link where a file of ours will be, and what is
 * written there then replaces a file elsewhere, or ends up in a file that others read. So a file is
 * made exclusively, with mode 0600 whatever the umask, after whatever has its name is removed; a
 * file that is continued must be neither a link nor another user's. All files that the product
 * makes outside a database are made here. Windows has neither modes nor these flags.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const MODE = 0o600;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
/** Without O_NONBLOCK, a pipe that has no reader would hang the process. */
const CONTINUED = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | NO_FOLLOW | NO_WAIT;

/** A file is not ours to write; the message says why and what to do. */
export class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError';
}

/**
 * Opens an empty file for writing. A file or link that has the name is removed first, and never
 * written. Rejects with the system's error.
 */
export async function openNewFile(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  const file = await open(path, NEW_FILE, MODE);
  // The umask may have taken more than others' access, with which the file could not be read back.
  await file.chmod(MODE).catch(() => undefined);
  return file;
}

/**
 * Replaces the file at `path` by one with this text, whole or not at all, also where the power
 * fails: it is written as `<path>.new` first, and synced. A link that has either name is replaced
 * and never followed. Throws the system's error.
 */
export function replaceOwnFile(path: string, text: string): void {
  const part = `${path}.new`;
  rmSync(part, { force: true });
  try {
    const file = openSync(part, NEW_FILE, MODE);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, path);
  } catch (error) {
    try {
      rmSync(part, { force: true });
    } catch {
      // Why the file could not be written matters more.
    }
    throw error;
  }
}

/**
 * Opens a file to add to its end, and makes it if it is not there. Rejects with ForeignFileError
 * for a link and for a file of another user, and with the system's error.
 */
export async function openContinuedFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, CONTINUED, MODE);
  } catch (error) {
    throw namedLink(path, error);
  }
  try {
    requireOwn(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The same at once; returns a descriptor. */
export function openContinuedFileSync(path: string): number {
  let file: number;
  try {
    file = openSync(path, CONTINUED, MODE);
  } catch (error) {
    throw namedLink(path, error);
  }
  try {
    requireOwn(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/**
 * A sentence if users other than this one can write the directory of `path`, and so remove or
 * replace what is in it; otherwise null, also if there is no such directory. A group counts unless
 * it is this process's own, which is a group of one user on most systems.
 */
export async function openDirectoryProblem(path: string): Promise<string | null> {
  const own = process.getuid?.();
  if (own === undefined) return null;
  const directory = dirname(path);
  const stats = await stat(directory).catch(() => null);
  if (stats === null) return null;
  const forbidden = stats.gid === process.getgid?.() ? OTHERS_WRITE : OTHERS_WRITE | GROUP_WRITES;
  const shown = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  if ((stats.mode & forbidden) !== 0) {
    return (
      `${directory} can be written by other users (its mode is ${shown}), who can remove or ` +
      `replace what is in it: chmod go-w ${directory}`
    );
  }
  if (stats.uid === own || stats.uid === 0) return null;
  return (
    `${directory} belongs to another user (uid ${stats.uid}), who can remove or replace what is ` +
    'in it: use a directory of your own.'
  );
}

/** What O_NOFOLLOW says of a link: ELOOP, and EMLINK on FreeBSD. */
function namedLink(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ELOOP' && code !== 'EMLINK') return error;
  return new ForeignFileError(
    `${path} is a symbolic link, which someone else may have put there: remove it, or name the ` +
      'file to which it leads',
    { cause: error },
  );
}

function requireOwn(path: string, stats: Stats): void {
  if (stats.isFile() && stats.nlink > 1) {
    throw new ForeignFileError(
      `${path} has a second name (a hard link), which someone else may have made: remove it, and ` +
        'a new file is made',
    );
  }
  const own = process.getuid?.();
  if (own === undefined || own === 0 || stats.uid === own || stats.uid === 0) return;
  throw new ForeignFileError(
    `${path} belongs to another user (uid ${stats.uid}), who can read and change it: remove it, ` +
      'and a new file is made',
  );
}
