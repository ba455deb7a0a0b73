/**
 * Reads one file of ZooKeeper's transaction log, entry by entry: checksum, length, record, a mark.
 *
 * A file ends where its bytes do, at a length of 0 (ZooKeeper writes zeros ahead), or at an entry
 * without its mark, which a crash has cut off. A record whose checksum is wrong, or a length that
 * no record has, is damage: FileError. A file without a header is empty; ZooKeeper 3.9 leaves such
 * ones behind.
 */
import { open } from 'node:fs/promises';
import { Adler32, FileError } from './byte-cursor.js';

const MAGIC = 0x5a4b4c47;
const VERSION = 2;
const HEADER_BYTES = 16;
/** The checksum and the length before a record. */
const ENTRY_HEAD_BYTES = 12;
const MARK = 0x42;
const CHUNK_BYTES = 1 << 20;
/** More than the largest request that ZooKeeper can be configured to take. */
const RECORD_BYTES_MAX = 1 << 30;

interface LogEntry {
  /** Valid until the next entry is read. */
  readonly bytes: Buffer;
  /** Where the entry begins in the file. */
  readonly offset: number;
}

interface LogHeader {
  readonly dbid: bigint;
}

/** Null for a file without one. */
export async function readLogHeader(path: string): Promise<LogHeader | null> {
  const file = await BufferedFile.open(path);
  try {
    const header = await file.read(HEADER_BYTES);
    return header === null ? null : { dbid: header.readBigInt64BE(8) };
  } finally {
    await file.close();
  }
}

export async function* readLogFile(path: string): AsyncGenerator<LogEntry> {
  const reader = await BufferedFile.open(path);
  try {
    const header = await reader.read(HEADER_BYTES);
    if (header === null) return;
    if (header.readInt32BE(0) !== MAGIC) {
      if (header.every((byte) => byte === 0)) return;
      throw new FileError('it does not begin as a log of ZooKeeper does', 0);
    }
    const version = header.readInt32BE(4);
    if (version !== VERSION) {
      throw new FileError(`its version is ${version}; this release reads version ${VERSION}`, 4);
    }
    for (;;) {
      const { offset } = reader;
      const head = await reader.read(ENTRY_HEAD_BYTES);
      if (head === null) return;
      const checksum = BigInt.asUintN(64, head.readBigInt64BE(0));
      const length = head.readInt32BE(8);
      if (length === 0) return;
      if (length < 0 || length > RECORD_BYTES_MAX) {
        throw new FileError(`the length of a transaction is ${length}`, offset);
      }
      const entry = await reader.read(length + 1);
      if (entry === null || entry[length] !== MARK) return;
      const bytes = entry.subarray(0, length);
      const adler = new Adler32();
      adler.update(bytes);
      if (BigInt(adler.value) !== checksum) {
        throw new FileError('the checksum of a transaction is wrong', offset);
      }
      yield { bytes, offset };
    }
  } finally {
    await reader.close();
  }
}

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Reads a file in order, in large parts. */
export class BufferedFile {
  /** Bytes of the file that were handed out. */
  offset = 0;
  readonly #file: FileHandle;
  #chunk = Buffer.alloc(0);

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<BufferedFile> {
    return new BufferedFile(await open(path, 'r'));
  }

  /** Returns that many bytes, valid until the next call; null if the file has fewer. */
  async read(bytes: number): Promise<Buffer | null> {
    if (this.#chunk.length < bytes && !(await this.#fill(bytes))) return null;
    const taken = this.#chunk.subarray(0, bytes);
    this.#chunk = this.#chunk.subarray(bytes);
    this.offset += bytes;
    return taken;
  }

  /** What was read and not handed out, such as the end of a file that is too short. */
  get rest(): number {
    return this.#chunk.length;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #fill(bytes: number): Promise<boolean> {
    const parts = [this.#chunk];
    let length = this.#chunk.length;
    while (length < bytes) {
      const part = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await this.#file.read(part, 0, part.length);
      if (bytesRead === 0) break;
      parts.push(part.subarray(0, bytesRead));
      length += bytesRead;
    }
    this.#chunk = Buffer.concat(parts, length);
    return length >= bytes;
  }
}
