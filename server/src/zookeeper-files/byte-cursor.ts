/**
 * Reads jute's fields of a file of ZooKeeper, one after the other. What does not fit is a FileError
 * that names the place: a file that was cut or changed is told, never read past.
 */

/** The file is not what it should be; its message has the place, in decompressed bytes. */
export class FileError extends Error {
  override readonly name = 'FileError';

  constructor(message: string, offset: number | null) {
    super(offset === null ? message : `${message} (at byte ${offset})`);
  }
}

/** The length that jute writes for null. */
export const NO_BYTES = -1;

export class ByteCursor {
  readonly bytes: Buffer;
  /** The same memory: a DataView reads numbers several times as fast as a Buffer. */
  readonly view: DataView;
  offset = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get left(): number {
    return this.bytes.length - this.offset;
  }

  byte(what: string): number {
    this.#require(1, what);
    const value = this.bytes.readUInt8(this.offset);
    this.offset += 1;
    return value;
  }

  /** The next int, which is there, without going past it. */
  peekInt(): number {
    return this.bytes.readInt32BE(this.offset);
  }

  int(what: string): number {
    this.#require(4, what);
    const value = this.view.getInt32(this.offset);
    this.offset += 4;
    return value;
  }

  long(what: string): bigint {
    this.#require(8, what);
    const value = this.view.getBigInt64(this.offset);
    this.offset += 8;
    return value;
  }

  /** A number of elements of at least so many bytes each. */
  count(what: string, leastBytes: number): number {
    const count = this.int(what);
    if (count < 0 || count * leastBytes > this.left) {
      throw new FileError(`${what} is ${count}, and there is no room for them`, this.offset - 4);
    }
    return count;
  }

  /** Shares the file's memory; null for a length of -1. */
  buffer(what: string): Buffer | null {
    const length = this.length(what);
    if (length === NO_BYTES) return null;
    const start = this.skip(length, what);
    return this.bytes.subarray(start, this.offset);
  }

  /** The length of what follows, NO_BYTES for null. */
  length(what: string): number {
    const length = this.int(what);
    if (length < NO_BYTES) {
      throw new FileError(`the length of ${what} is ${length}`, this.offset - 4);
    }
    return length;
  }

  /** Goes past so many bytes, and returns where they begin. */
  skip(bytes: number, what: string): number {
    this.#require(bytes, what);
    const start = this.offset;
    this.offset += bytes;
    return start;
  }

  text(what: string): string {
    return this.buffer(what)?.toString() ?? '';
  }

  /** The bytes between two places. */
  between(from: number, to: number): Buffer {
    return this.bytes.subarray(from, to);
  }

  #require(bytes: number, what: string): void {
    if (bytes > this.left) throw new FileError(`the file ends within ${what}`, this.offset);
  }
}
