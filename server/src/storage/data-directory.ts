/**
 * The directory that holds a store: made durably, and marked with the member that it belongs to.
 *
 * `member.json` is written once and never changed. Whoever opens the directory checks it before
 * anything is written.
 */
import { mkdir, open as openFile, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openNewFile } from '../security/own-file.js';
import { codesOf, textOf } from './disk-errors.js';
import { DirectoryError, FormatError, IdentityError } from './errors.js';

export const OWNER_FILE = 'member.json';
const DIRECTORY_FORMAT = 1;

/** Only reads. A missing or empty directory may be taken by any member. */
export async function checkOwner(directory: string, memberId: number): Promise<void> {
  const path = join(directory, OWNER_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codesOf(error).includes('ENOENT')) return;
    throw new DirectoryError(`cannot read ${path}: ${textOf(error)}`);
  }
  const match = /"rookery":(\d+),"member":(\d+)/.exec(text);
  if (match === null) {
    throw new FormatError(
      `${path} is ${text.trim() === '' ? 'empty' : 'damaged'}: it cannot be told whose data this is.` +
        ` If ${directory} is that of member ${memberId}, and of no other, write this line into the` +
        ` file and start again: ${ownerLine(memberId)}`,
    );
  }
  if (Number(match[1]) !== DIRECTORY_FORMAT) {
    throw new FormatError(
      `${directory} has format ${match[1]}, this version reads ${DIRECTORY_FORMAT}`,
    );
  }
  if (Number(match[2]) !== memberId) {
    throw new IdentityError(
      `${directory} holds the data of member ${match[2]}, this is member ${memberId}`,
    );
  }
}

/** Marks the directory. Durable when resolved; does nothing if it is marked already. */
export async function writeOwner(directory: string, memberId: number): Promise<void> {
  if ((await readdir(directory)).includes(OWNER_FILE)) return;
  const file = await openNewFile(join(directory, `${OWNER_FILE}.new`));
  try {
    await file.writeFile(`${ownerLine(memberId)}\n`);
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

function ownerLine(memberId: number): string {
  return `{"rookery":${DIRECTORY_FORMAT},"member":${memberId}}`;
}
