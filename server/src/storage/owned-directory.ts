/**
 * A directory that belongs to one member and is open in one process.
 *
 * Owns the file that names the member, the lock against other processes, and the removal of files:
 * they are gone for good at once, and their space is freed little by little (trash.ts). The store
 * in the directory closes it.
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { assert } from '@rookery/protocol';
import {
  checkOwner,
  completeLine,
  type Founding,
  foundingIn,
  makeDirectory,
  OWNER_FILE,
  ownerLine,
  ownerText,
  readOwner,
  writeOwner,
} from './data-directory.js';
import { type DirectoryLock, LOCK_NAME, lockDirectory } from './directory-lock.js';
import { faultOf, isFull, orFault, textOf } from './disk-errors.js';
import { DirectoryError, StoreLockedError } from './errors.js';
import type { KnownRecord } from './known-record.js';
import { type LogDisk, SYSTEM_DISK } from './log-disk.js';
import { Trash } from './trash.js';

const TRASH_PREFIX = 'trash-';
const TRASH_NAME = /^trash-(\d+)-/;

export class OwnedDirectory {
  readonly path: string;
  readonly disk: LogDisk;
  readonly #memberId: number;
  readonly #lock: DirectoryLock;
  /** The text of the mark; null while there is none. */
  #mark: string | null;
  readonly #trash = new Trash();
  #trashCount = 0;

  private constructor(
    path: string,
    { memberId, disk }: { readonly memberId: number; readonly disk: LogDisk },
    { lock, mark }: { readonly lock: DirectoryLock; readonly mark: string | null },
  ) {
    this.path = path;
    this.#memberId = memberId;
    this.#lock = lock;
    this.#mark = mark;
    this.disk = disk;
  }

  /**
   * Opens a directory and marks it as that of the member. Throws IdentityError or FormatError
   * before it writes; StorageFault for a full disk.
   */
  static async open(
    path: string,
    memberId: number,
    disk: LogDisk = SYSTEM_DISK,
  ): Promise<OwnedDirectory> {
    const directory = await OwnedDirectory.openUnmarked(path, memberId, disk);
    try {
      if (directory.#mark === null) await usable(path, () => directory.#put(ownerLine(memberId)));
      return directory;
    } catch (error) {
      // Where the disk is full, the same process opens the directory again later.
      await directory.close();
      throw error;
    }
  }

  /** Like `open`, but a directory without a mark gets none before `complete`. */
  static async openUnmarked(
    path: string,
    memberId: number,
    disk: LogDisk = SYSTEM_DISK,
  ): Promise<OwnedDirectory> {
    await readOwner(path, memberId);
    return await usable(path, async () => {
      await makeDirectory(path);
      const lock = await lockDirectory(path);
      try {
        const mark = await ownerText(path);
        const directory = new OwnedDirectory(path, { memberId, disk }, { lock, mark });
        await directory.#takeTrashAgain();
        return directory;
      } catch (error) {
        await lock.release();
        throw error;
      }
    });
  }

  /** How far the founding is, according to the mark. */
  get founding(): Founding {
    return foundingIn(this.#mark, this.path, this.#memberId);
  }

  /** Marks the directory as one in which a founding is complete. Durable when resolved. */
  async complete(): Promise<void> {
    await orFault(this.path, () => this.#put(completeLine(this.#memberId)));
  }

  async #put(mark: string): Promise<void> {
    await writeOwner(this.path, mark);
    this.#mark = mark;
  }

  /** The mark as last read or written by this process. Only for a marked directory. */
  get mark(): KnownRecord {
    const text = () => {
      assert(this.#mark !== null, () => `${this.path} is marked`);
      return this.#mark;
    };
    return {
      name: join(this.path, OWNER_FILE),
      check: () => checkOwner(this.path, text()),
      writeAnew: () => orFault(this.path, () => this.#put(text())),
    };
  }

  /** Whether a name belongs to the directory itself and not to the store in it. */
  isOwn(name: string): boolean {
    return name === LOCK_NAME || name.startsWith(OWNER_FILE) || name.startsWith(TRASH_PREFIX);
  }

  /** Removes a file or directory in it, at any depth. Resolves when it cannot come back. */
  async discard(name: string): Promise<void> {
    this.#trashCount += 1;
    const path = join(this.path, name);
    const trash = join(this.path, `${TRASH_PREFIX}${this.#trashCount}-${basename(name)}`);
    await orFault(path, async () => {
      await this.disk.rename(path, trash);
      await this.disk.syncDirectory(this.path);
      if (dirname(path) !== this.path) await this.disk.syncDirectory(dirname(path));
      this.#trash.add(trash);
    });
  }

  async close(): Promise<void> {
    try {
      await orFault(this.path, () => this.#trash.empty());
    } finally {
      await this.#lock.release();
    }
  }

  /** Continues removals that an earlier process did not finish. */
  async #takeTrashAgain(): Promise<void> {
    for (const name of await readdir(this.path)) {
      if (!name.startsWith(TRASH_PREFIX)) continue;
      this.#trashCount = Math.max(this.#trashCount, Number(TRASH_NAME.exec(name)?.[1] ?? 0));
      this.#trash.add(join(this.path, name));
    }
  }
}

/** Runs a step of the opening; its error names the directory. */
async function usable<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof StoreLockedError) throw error;
    // As at run time: the directory is the right one, and a later start may find space.
    if (isFull(error)) throw faultOf(path, error);
    throw new DirectoryError(`cannot use the data directory ${path}: ${textOf(error)}`);
  }
}
