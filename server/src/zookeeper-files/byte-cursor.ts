/**
 * Reads jute's fields of a file of ZooKeeper, one after the other. What does not fit is a FileError
 * that names the place: a file that was cut or changed is reported, never read past.
 *
 * It holds all of the file, or a window of it that `refill` moves on. A field that goes beyond a
 * window which is not the last one is MoreBytesNeeded: its reader begins again from an offset that
 * it has kept, once there is more.
 */

/** The file is not what it should be; its message has the place, in decompressed bytes. */
export class FileError extends Error {
  override readonly name = 'FileError';

  constructor(message: string, offset: number | null) {
    super(offset === null ? message : `${message} (at byte ${offset})`);
  }
}

/** The file may be whole, and is larger than what can be read; the message names the bound. */
export class FileBoundError extends Error {
  override readonly name = 'FileBoundError';
  readonly code = 'ERR_FILE_BOUND';
}

/** Not an error: the window ends within a field. */
export class MoreBytesNeeded {
  /** Those that are missing, at least. */
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }
}

/**
 * Many times what a request may have. A field is held as a whole, so neither a length that is wrong
 * nor a file that was made to do harm may decide about memory.
 */
export const FIELD_BYTES_MAX = 256 << 20;

/** The length that jute writes for null. */
export const NO_BYTES = -1;

export class ByteCursor {
  bytes: Buffer;
  /** The same memory: a DataView reads numbers several times as fast as a Buffer. */
  view: DataView;
  /** Within `bytes`. */
  offset = 0;
  #isLast: boolean;
  /** The bytes of the file before the window. */
  #before = 0;

  constructor(bytes: Buffer, { isLast = true }: { readonly isLast?: boolean } = {}) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.#isLast = isLast;
  }

  /** The place in the file. */
  get position(): number {
    return this.#before + this.offset;
  }

  /** Whether the window reaches the end of the file. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** Lets go of what was read, and puts the parts, the next ones of the file, behind the rest. */
  refill(parts: readonly Buffer[], isLast: boolean): void {
    this.#before += this.offset;
    const rest = this.bytes.subarray(this.offset);
    const [only] = parts;
    const isOne = rest.length === 0 && parts.length === 1 && only !== undefined;
    this.bytes = isOne ? only : Buffer.concat([rest, ...parts]);
    this.view = viewOf(this.bytes);
    this.offset = 0;
    this.#isLast = isLast;
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
    const hasRoom = !this.#isLast || count * leastBytes <= this.left;
    if (count < 0 || !hasRoom) {
      throw new FileError(`${what} is ${count}, and there is no room for them`, this.position - 4);
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
      throw new FileError(`the length of ${what} is ${length}`, this.position - 4);
    }
    if (length > FIELD_BYTES_MAX) {
      throw new FileError(
        `the length of ${what} is ${length}, more than any that can be read (${FIELD_BYTES_MAX})`,
        this.position - 4,
      );
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
    if (bytes <= this.left) return;
    if (!this.#isLast) throw new MoreBytesNeeded(bytes - this.left);
    throw new FileError(`the file ends within ${what}`, this.position);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

const BASE = 65_521;
/** Both sums of this many bytes stay below 2^31, so that the compiler adds small integers. */
const BLOCK_BYTES = 3800;
/** Bytes that are added in one step, a part of BLOCK_BYTES. */
const STEP_BYTES = 8;

export class Adler32 {
  #a = 1;
  #b = 0;

  update(bytes: Uint8Array): void {
    let a = this.#a;
    let b = this.#b;
    for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
      const end = Math.min(bytes.length, start + BLOCK_BYTES);
      let at = start;
      // `b` gets the value that `a` has after each byte: the first byte of a step counts 8 times.
      for (; at + STEP_BYTES <= end; at += STEP_BYTES) {
        const first = (bytes[at] ?? 0) | 0;
        const second = (first + (bytes[at + 1] ?? 0)) | 0;
        const third = (second + (bytes[at + 2] ?? 0)) | 0;
        const fourth = (third + (bytes[at + 3] ?? 0)) | 0;
        const fifth = (fourth + (bytes[at + 4] ?? 0)) | 0;
        const sixth = (fifth + (bytes[at + 5] ?? 0)) | 0;
        const seventh = (sixth + (bytes[at + 6] ?? 0)) | 0;
        const eighth = (seventh + (bytes[at + 7] ?? 0)) | 0;
        const sums = (first + second + third + fourth + fifth + sixth + seventh + eighth) | 0;
        b = (b + STEP_BYTES * a + sums) | 0;
        a = (a + eighth) | 0;
      }
      for (; at < end; at++) {
        a = (a + (bytes[at] ?? 0)) | 0;
        b = (b + a) | 0;
      }
      a %= BASE;
      b %= BASE;
    }
    this.#a = a;
    this.#b = b;
  }

  /** The checksum of all bytes so far, unsigned. */
  get value(): number {
    return this.#b * 65_536 + this.#a;
  }
}
