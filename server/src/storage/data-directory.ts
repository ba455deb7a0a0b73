/**
 * Makes the directory of a store durably, and marks it with the member that owns it.
 *
 * `member.json` names the owner, which is checked before anything is written to the directory. In
 * the directory of the log, the mark is written first. In that of the tree it is written last, when
 * a founding is complete: see recovery.ts.
 */
import { mkdir, open as openFile, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MOVE_FROM_0_2 } from '../config/version.js';
import { openNewFile } from '../security/own-file.js';
import {
  codesOf,
  DamagedError,
  DirectoryError,
  FormatError,
  IdentityError,
  textOf,
} from './errors.js';

export const OWNER_FILE = 'member.json';
/**
 * The format of everything in a data directory: the owner file, the meta record and the log's
 * segments name it. Releases before 0.3.0 wrote 1 to 6.
 */
export const DISK_FORMAT = 10;

/**
 * How far the founding of a member is, according to `member.json`: incomplete without the file, and
 * unknown where an operator wrote it.
 */
export type Founding = 'incomplete' | 'unknown' | 'complete';

/**
 * Only reads. A directory without the file may be taken by any member. Throws IdentityError,
 * FormatError or DirectoryError.
 */
export async function readOwner(directory: string, memberId: number): Promise<Founding> {
  return foundingIn(await ownerText(directory), directory, memberId);
}

/** The text of the file; null if there is no file. Throws DirectoryError. */
export async function ownerText(directory: string): Promise<string | null> {
  const path = join(directory, OWNER_FILE);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codesOf(error).includes('ENOENT')) return null;
    throw new DirectoryError(`cannot read ${path}: ${textOf(error)}`);
  }
}

/** Parses the text of the file. Throws the errors of `readOwner`. */
export function foundingIn(text: string | null, directory: string, memberId: number): Founding {
  if (text === null) return 'incomplete';
  const path = join(directory, OWNER_FILE);
  const match = /"rookery":(\d+),"member":(\d+)(,"complete":true)?/.exec(text);
  if (match === null) {
    throw new FormatError(
      `${path} is ${text.trim() === '' ? 'empty' : 'damaged'}: it cannot be told whose data this ` +
        `is. If ${directory} is that of member ${memberId}, and of no other, write this line into ` +
        `the file and start again: ${completeLine(memberId).trimEnd()}`,
    );
  }
  if (Number(match[1]) !== DISK_FORMAT) throw wrongFormat(directory, Number(match[1]));
  if (Number(match[2]) !== memberId) {
    throw new IdentityError(
      `${directory} holds the data of member ${match[2]}, this is member ${memberId}`,
    );
  }
  return match[3] === undefined ? 'unknown' : 'complete';
}

/** The refusal of a directory of another format, with what to do about it. */
export function wrongFormat(what: string, format: number): FormatError {
  const remedy =
    format < DISK_FORMAT
      ? MOVE_FROM_0_2
      : 'start this member with the release that wrote it, or with empty directories';
  return new FormatError(
    `${what} has format ${format}, this release reads format ${DISK_FORMAT}: ${remedy}`,
  );
}

/** Throws DamagedError unless the file is readable and contains exactly this text. */
export async function checkOwner(directory: string, text: string): Promise<void> {
  const path = join(directory, OWNER_FILE);
  let found: string | null;
  try {
    found = await ownerText(directory);
  } catch (error) {
    throw new DamagedError(textOf(error), { cause: error });
  }
  if (found === null) throw new DamagedError(`${path} is missing`);
  if (found !== text) throw new DamagedError(`${path} is damaged: it is not what was written`);
}

/** Writes the file. Durable when resolved. */
export async function writeOwner(directory: string, text: string): Promise<void> {
  const file = await openNewFile(join(directory, `${OWNER_FILE}.new`));
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(join(directory, `${OWNER_FILE}.new`), join(directory, OWNER_FILE));
  await syncDirectory(directory);
}

/**
 * Makes a directory and its parents durably. It does so step by step, because Node's own recursion
 * does not end where the kernel always answers ENOENT, as below /proc. Several processes may make
 * one directory at the same time, such as members on one machine at their first start.
 */
export async function makeDirectory(directory: string): Promise<void> {
  const isMade = await makeOne(directory).catch(async (error: unknown) => {
    if (!codesOf(error).includes('ENOENT')) throw error;
    await makeDirectory(dirname(directory));
    return await makeOne(directory);
  });
  if (isMade) await syncDirectory(dirname(directory));
}

/** Returns false if the directory exists already. */
async function makeOne(directory: string): Promise<boolean> {
  try {
    await mkdir(directory);
    return true;
  } catch (error) {
    if (codesOf(error).includes('EEXIST')) return false;
    throw error;
  }
}

/** Makes names that were created, renamed or removed in the directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await openFile(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The text that names the member that owns the directory. */
export function ownerLine(memberId: number): string {
  return `{"rookery":${DISK_FORMAT},"member":${memberId}}\n`;
}

/** The same, and marks the founding as complete. */
export function completeLine(memberId: number): string {
  return `{"rookery":${DISK_FORMAT},"member":${memberId},"complete":true}\n`;
}
