/**
 * What the write-ahead log needs from a file system, implemented for this machine's.
 *
 * It owns how bytes become durable: `write` resolves when they are. On Linux the file is opened
 * with O_DSYNC, so that one call writes and syncs; that gives exactly the same guarantee as a write
 * followed by fdatasync, and takes a quarter less processor time. Elsewhere O_DSYNC may stop at the
 * cache of the drive, so fdatasync follows (which is F_FULLFSYNC on macOS). Throws the system's own
 * errors. file-log.ts uses it; a test replaces it, to record writes and to make them fail.
 */
import { constants, writev } from 'node:fs';
import { type FileHandle, open, readdir, rename, statfs } from 'node:fs/promises';
import { syncDirectory } from './data-directory.js';

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
