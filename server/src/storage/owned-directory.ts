/**
 * Opens a directory that belongs to one member, for one process at a time.
 *
 * Owns the file that names the member, the lock against other processes, and the removal of files:
 * their names go at once, and `Trash` frees their space gradually. The store in the directory
 * closes it.
 */
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assert } from '@rookery/protocol';
import { Level } from 'level';
import { Background } from './background.js';
import type { KnownRecord } from './contract.js';
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
import {
  DirectoryError,
  faultOf,
  isDamage,
  isFull,
  isLocked,
  orFault,
  StoreLockedError,
  textOf,
} from './errors.js';
import { isDamaged } from './level-files.js';
import { type LogDisk, SYSTEM_DISK } from './log-disk.js';

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

/** The name of the database in the directory that it locks. */
const LOCK_NAME = 'lock';

interface DirectoryLock {
  release(): Promise<void>;
}

/** Throws StoreLockedError. */
async function lockDirectory(directory: string): Promise<DirectoryLock> {
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

interface TrashPace {
  readonly cutBytes: number;
  /** The pause after a cut, in ms; at least as long as the cut took. */
  readonly pauseMs: number;
  /** With more bytes waiting there are no pauses, because space must be freed, too. */
  readonly unhurriedMax: number;
  /** With more bytes waiting files are removed whole, which is the fastest way. */
  readonly cutMax: number;
}

/** The size of one cut, which makes at most 50 MB a second. */
export const TRASH_PACE: TrashPace = {
  cutBytes: 1 << 20,
  pauseMs: 20,
  unhurriedMax: 3,
  cutMax: 6,
};

/**
 * Removes files, and directories of files, little by little, one after the other.
 *
 * Freeing many blocks at once delays every write: a file system that is mounted with `discard`
 * reports them to the device, and each sync of any file waits meanwhile (on ext4, freeing 20 MB
 * takes 40 ms, during which a sync takes 20 to 30 ms instead of 0.1 ms). So large files are cut off
 * from their ends, each cut is synced (a file system with a journal would otherwise save them up
 * for one commit), and a pause comes after it. What a crash has left is added again by its owner.
 */
export class Trash {
  readonly #pace: TrashPace;
  readonly #background = new Background();
  /** Aborted when there is no time left. */
  readonly #hurry = new AbortController();
  #waiting = 0;

  constructor(pace: TrashPace = TRASH_PACE) {
    this.#pace = pace;
  }

  /** Removes a path in background. Throws the failure of an earlier removal. */
  add(path: string): void {
    this.#background.check();
    this.#waiting += 1;
    this.#background.run(async () => {
      // Cutting only spares others, so what cannot be cut is removed as it is.
      await this.#shrink(path).catch(() => undefined);
      await rm(path, { recursive: true, force: true });
      this.#waiting -= 1;
    });
  }

  /** Removes the rest at once. Throws the failure of a removal. */
  async empty(): Promise<void> {
    this.#hurry.abort();
    await this.#background.idle();
  }

  async #shrink(path: string): Promise<void> {
    if (!(await lstat(path)).isDirectory()) return await this.#cut(path);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isFile()) await this.#cut(join(path, entry.name));
    }
  }

  async #cut(path: string): Promise<void> {
    const file = await open(path, 'r+');
    try {
      const { size, nlink } = await file.stat();
      // A second name means that a copy, such as a backup's hard link, is the same file.
      if (nlink > 1) return;
      const { cutBytes } = this.#pace;
      for (let left = size - cutBytes; left > 0 && this.#mayCut; left -= cutBytes) {
        const began = performance.now();
        await file.truncate(left);
        await file.sync();
        await this.#rest(performance.now() - began);
      }
    } finally {
      await file.close();
    }
  }

  get #mayCut(): boolean {
    return this.#waiting <= this.#pace.cutMax && !this.#hurry.signal.aborted;
  }

  async #rest(tookMs: number): Promise<void> {
    const { pauseMs, unhurriedMax } = this.#pace;
    if (this.#waiting > unhurriedMax) return;
    const { signal } = this.#hurry;
    await sleep(Math.max(pauseMs, tookMs), undefined, { signal }).catch(() => undefined);
  }
}
