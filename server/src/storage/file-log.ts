/**
 * Implements LogDirectory on the file system: plain files in a directory that belongs to one
 * member.
 *
 * Up to two removed files are kept as spares and become the next new files, because overwriting
 * allocated space is much cheaper than freeing and allocating it. log-disk.ts makes bytes durable;
 * owned-directory.ts guards the directory.
 */
import { join } from 'node:path';
import { assert } from '@rookery/protocol';
import { orFault } from './errors.js';
import { CLEARED_BYTES, type LogDirectory, type LogFile } from './key-value.js';
import { type DiskFile, FileLogFile, type LogDisk } from './log-disk.js';

const SPARE_NAME = /^spare-(\d+)$/;
const SPARES_MAX = 2;
const CLEARED = new Uint8Array(CLEARED_BYTES);
/** Free space that zeros and spare files leave to other writes, in bytes. */
const LEFT_FREE_BYTES = 16 << 20;

/** The directory in which the files are, such as an OwnedDirectory. */
export interface LogHome {
  readonly path: string;
  readonly disk: LogDisk;
  /** Whether a name belongs to the directory itself and not to the log in it. */
  isOwn(name: string): boolean;
  /** Removes a file. Resolves when it cannot come back. */
  discard(name: string): Promise<void>;
  close(): Promise<void>;
}

export class FileLogDirectory implements LogDirectory {
  readonly #home: LogHome;
  readonly #files = new Map<string, FileLogFile>();
  readonly #spares: string[] = [];
  /** The number of spare files, including those that are about to be one or to be taken. */
  #spareCount = 0;
  #lastSpare = 0;
  #closing: Promise<void> | null = null;

  private constructor(home: LogHome) {
    this.#home = home;
  }

  /** Closes the directory when it is closed. */
  static async open(home: LogHome): Promise<FileLogDirectory> {
    const directory = new FileLogDirectory(home);
    await directory.#takeSparesAgain();
    return directory;
  }

  async list(): Promise<readonly string[]> {
    const names = await this.#names();
    return names.filter((name) => !this.#home.isOwn(name) && !SPARE_NAME.test(name));
  }

  async open(name: string): Promise<LogFile> {
    this.#mustBeOpen();
    const path = join(this.#home.path, name);
    assert(!this.#files.has(name), `${name} is opened once at a time`);
    return this.#opened(name, await orFault(path, () => this.#home.disk.open(path)));
  }

  async create(name: string): Promise<LogFile> {
    this.#mustBeOpen();
    const path = join(this.#home.path, name);
    const { disk } = this.#home;
    assert(!(await this.#names()).includes(name), `${name} is not there before it is made`);
    const file = await orFault(path, async () => {
      return (await this.#fromSpare(path)) ?? (await disk.create(path));
    });
    const made = this.#opened(name, file);
    await orFault(path, () => disk.syncDirectory(this.#home.path));
    return made;
  }

  async remove(name: string): Promise<void> {
    this.#mustBeOpen();
    assert(!this.#files.has(name), `${name} is closed before it is removed`);
    if (this.#spareCount >= SPARES_MAX) return await this.#home.discard(name);
    this.#spareCount += 1;
    if (!(await this.#hasRoom(0))) {
      this.#spareCount -= 1;
      return await this.#home.discard(name);
    }
    this.#lastSpare += 1;
    const spare = `spare-${this.#lastSpare}`;
    const { path, disk } = this.#home;
    await orFault(join(path, name), async () => {
      await disk.rename(join(path, name), join(path, spare));
      await disk.syncDirectory(path);
    });
    this.#spares.push(spare);
  }

  /** Safe to call again. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** Another process may have the directory once it is closed. */
  #mustBeOpen(): void {
    assert(this.#closing === null, () => `${this.#home.path} is open`);
  }

  async #closeAll(): Promise<void> {
    try {
      for (const file of [...this.#files.values()]) await file.close();
    } finally {
      await this.#home.close();
    }
  }

  async #names(): Promise<readonly string[]> {
    return await orFault(this.#home.path, () => this.#home.disk.list(this.#home.path));
  }

  #opened(name: string, file: DiskFile): LogFile {
    const opened = new FileLogFile(file, {
      path: join(this.#home.path, name),
      hasRoom: (bytes) => this.#hasRoom(bytes),
      onClose: () => this.#files.delete(name),
    });
    this.#files.set(name, opened);
    return opened;
  }

  /** Finds the spare files of an earlier process and removes surplus ones. */
  async #takeSparesAgain(): Promise<void> {
    for (const name of await this.#names()) {
      const match = SPARE_NAME.exec(name);
      if (match === null) continue;
      this.#lastSpare = Math.max(this.#lastSpare, Number(match[1]));
      if (this.#spares.length < SPARES_MAX && (await this.#hasRoom(0))) this.#spares.push(name);
      else await this.#home.discard(name);
    }
    this.#spareCount = this.#spares.length;
  }

  /** Renames a spare file to `name` and clears its beginning; null if there is none. */
  async #fromSpare(path: string): Promise<DiskFile | null> {
    const spare = this.#spares.shift();
    if (spare === undefined) return null;
    const sparePath = join(this.#home.path, spare);
    const file = await this.#home.disk.open(sparePath);
    try {
      if (file.copies > 0) {
        await file.close();
        await this.#home.discard(spare);
        return null;
      }
      await file.write(0, [CLEARED]);
      await this.#home.disk.rename(sparePath, path);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    } finally {
      this.#spareCount -= 1;
    }
  }

  /** Whether the disk has space for `bytes` more and the reserve for others. */
  async #hasRoom(bytes: number): Promise<boolean> {
    const { path, disk } = this.#home;
    return (await orFault(path, () => disk.freeBytes(path))) >= LEFT_FREE_BYTES + bytes;
  }
}
