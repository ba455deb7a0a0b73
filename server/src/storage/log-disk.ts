/**
 * Reads and writes the files of the log on this machine's file system.
 *
 * Owns how bytes become durable: `write` resolves when they are. On Linux the file is opened with
 * O_DSYNC, so that one call writes and syncs; that gives exactly the same guarantee as a write
 * followed by fdatasync, and takes a quarter less processor time. Elsewhere O_DSYNC may stop at the
 * cache of the drive, so fdatasync follows (which is F_FULLFSYNC on macOS). `LogDisk` throws the
 * system's own errors, and a test replaces it to record writes and make them fail; `FileLogFile`
 * turns them into StorageFault. file-log.ts uses both.
 */
import { constants, writev } from 'node:fs';
import { type FileHandle, open, readdir, rename, statfs } from 'node:fs/promises';
import { assert } from '@rookery/protocol';
import { syncDirectory } from './data-directory.js';
import { codesOf, DamagedError, faultOf, isFull, orFault, textOf } from './errors.js';
import type { LogFile } from './key-value.js';

/** An open file. Reads may overlap with anything; nothing else overlaps. */
export interface DiskFile {
  readonly size: number;
  /** The number of further names (hard links) of the file: copies that must not change. */
  readonly copies: number;
  /** Reads into new memory. Returns fewer bytes at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** Writes the parts one after the other. Durable when resolved. */
  write(offset: number, parts: readonly Uint8Array[]): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

export interface LogDisk {
  /** The names of the regular files in the directory. */
  list(directory: string): Promise<readonly string[]>;
  open(path: string): Promise<DiskFile>;
  /** Creates a file. Its name is durable once the directory is synced. */
  create(path: string): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  syncDirectory(directory: string): Promise<void>;
  /** Free bytes for users other than root. */
  freeBytes(directory: string): Promise<number>;
}

export const SYSTEM_DISK: LogDisk = {
  list: async (directory) => {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  },
  open: (path) => SystemFile.open(path, 0),
  create: (path) => SystemFile.open(path, constants.O_CREAT | constants.O_EXCL),
  rename,
  syncDirectory,
  freeBytes: async (directory) => {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  },
};

const WRITE_IS_DURABLE = process.platform === 'linux';

class SystemFile implements DiskFile {
  readonly copies: number;
  private readonly handle: FileHandle;
  private sizeBytes: number;

  private constructor(handle: FileHandle, at: { readonly size: number; readonly nlink: number }) {
    this.handle = handle;
    this.sizeBytes = at.size;
    this.copies = at.nlink - 1;
  }

  static async open(path: string, flags: number): Promise<SystemFile> {
    const durable = WRITE_IS_DURABLE ? constants.O_DSYNC : 0;
    const handle = await open(path, constants.O_RDWR | durable | flags, 0o600);
    try {
      return new SystemFile(handle, await handle.stat());
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get size(): number {
    return this.sizeBytes;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, this.sizeBytes - offset)));
    let done = 0;
    while (done < bytes.length) {
      const left = bytes.length - done;
      const { bytesRead } = await this.handle.read(bytes, done, left, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  }

  async write(offset: number, parts: readonly Uint8Array[]): Promise<void> {
    const end = await writeAll(this.handle.fd, parts, offset);
    if (!WRITE_IS_DURABLE) await this.handle.datasync();
    this.sizeBytes = Math.max(this.sizeBytes, end);
  }

  async truncate(size: number): Promise<void> {
    await this.handle.truncate(size);
    this.sizeBytes = size;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

/** Writes everything, in several writes if necessary. Returns the offset behind it. */
async function writeAll(fd: number, parts: readonly Uint8Array[], offset: number): Promise<number> {
  let at = offset;
  let rest = parts.filter((part) => part.length > 0);
  while (rest.length > 0) {
    const written = await new Promise<number>((resolve, reject) => {
      writev(fd, rest, at, (error, count) => (error === null ? resolve(count) : reject(error)));
    });
    if (written === 0) throw Object.assign(new Error('a write took nothing'), { code: 'EIO' });
    at += written;
    rest = behind(rest, written);
  }
  return at;
}

/** The parts that are left after `bytes` have been written. */
function behind(parts: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let gone = 0;
  let index = 0;
  for (const part of parts) {
    if (gone + part.length > bytes) break;
    gone += part.length;
    index += 1;
  }
  const [cut, ...others] = parts.slice(index);
  return cut === undefined ? [] : [cut.subarray(bytes - gone), ...others];
}

/** Zeros written at a time, so that other syncs come in between. */
const PIECE_BYTES = 512 << 10;
const ZEROS = new Uint8Array(PIECE_BYTES);

/**
 * An open file of the log. It makes one change at a time and none after a failed one, and
 * preallocates by writing zeros.
 */
export class FileLogFile implements LogFile {
  readonly #file: DiskFile;
  readonly #path: string;
  readonly #hasRoom: (bytes: number) => Promise<boolean>;
  readonly #onClose: () => void;
  /** The number of operations under way. */
  #underWay = 0;
  /** Set while `close` waits for them. */
  #onIdle: (() => void) | null = null;
  /** Stays true after a failure. */
  #changing = false;
  #closed = false;

  constructor(
    file: DiskFile,
    given: {
      readonly path: string;
      readonly hasRoom: (bytes: number) => Promise<boolean>;
      readonly onClose: () => void;
    },
  ) {
    this.#file = file;
    this.#path = given.path;
    this.#hasRoom = given.hasRoom;
    this.#onClose = given.onClose;
  }

  get size(): number {
    return this.#file.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    try {
      return await this.#run(() => this.#file.read(offset, length));
    } catch (error) {
      if (!codesOf(error).includes('EIO')) throw error;
      throw new DamagedError(`${this.#path} cannot be read: ${textOf(error)}`, { cause: error });
    }
  }

  write(offset: number, parts: readonly Uint8Array[]): Promise<void> {
    return this.#change(() => this.#file.write(offset, parts));
  }

  preallocate(size: number): Promise<void> {
    return this.#change(async () => {
      const before = this.#file.size;
      if (size <= before || !(await this.#hasRoom(size - before))) return;
      try {
        for (let at = before; at < size; at += PIECE_BYTES) {
          await this.#file.write(at, [ZEROS.subarray(0, Math.min(PIECE_BYTES, size - at))]);
        }
      } catch (error) {
        if (!isFull(error)) throw error;
        await this.#file.truncate(before);
      }
    });
  }

  /**
   * Waits for operations under way: after a failure the directory closes its files although work in
   * the background, such as preallocation, may not have ended.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await orFault(this.#path, () => this.#file.close());
    this.#onClose();
  }

  async #change(action: () => Promise<void>): Promise<void> {
    assert(!this.#changing, `one change of ${this.#path} at a time, none after a failure`);
    this.#changing = true;
    await this.#run(action);
    this.#changing = false;
  }

  async #run<T>(action: () => Promise<T>): Promise<T> {
    assert(!this.#closed, `${this.#path} is open`);
    this.#underWay += 1;
    try {
      return await action();
    } catch (error) {
      throw faultOf(this.#path, error);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onIdle?.();
    }
  }
}
