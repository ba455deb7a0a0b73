/**
 * Keeps every other process out of a directory, by an empty LevelDB database in it, which only one
 * process can open.
 *
 * LevelDB uses a lock of the operating system, which ends with the process. The database has no
 * data, so a damaged one is made anew. Releases that keep their log in LevelDB take the same lock.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import { StoreLockedError } from './errors.js';
import { isDamage, isLocked } from './level-errors.js';
import { isDamaged } from './level-files.js';

/** The name of the database in the directory that it locks. */
export const LOCK_NAME = 'lock';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** Throws StoreLockedError. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = join(directory, LOCK_NAME);
  try {
    return await openLock(path);
  } catch (error) {
    if (isLocked(error)) {
      throw new StoreLockedError(`the data directory ${directory} is in use by another process`);
    }
    if (!isDamage(error) && !(await isDamaged(path))) throw error;
  }
  // LevelDB's lock file stays, so it works even if two processes do this at once.
  for (const file of await readdir(path)) {
    if (file !== 'LOCK') await rm(join(path, file), { recursive: true, force: true });
  }
  return await openLock(path);
}

async function openLock(path: string): Promise<DirectoryLock> {
  const database = new Level(path);
  await database.open();
  return { release: () => database.close() };
}
