/**
 * Reads jute primitives from one frame.
 *
 * It never reads past the end, and checks each length against the bytes that are left before it
 * allocates. Whatever the bytes are, it returns a value or throws MarshallingError. Buffers are
 * views of the frame; a caller that keeps one longer than the frame has to copy it.
 */
import { assert } from '../basics/assert.js';
import { MarshallingError } from './errors.js';
import { type Int64, int64FromHalves } from './int64.js';

/** The shortest element of any vector of the protocol: an empty string. */
const ELEMENT_BYTES_MIN = 4;

export class JuteReader {
  #bytes: Buffer;
  #end: number;
  #position: number;
  /** A view of all bytes, created when it is first needed. */
  #view: DataView | null = null;

  constructor(bytes: Uint8Array, offset = 0, end: number = bytes.length) {
    this.#bytes = bufferOf(bytes);
    this.#end = Math.min(end, bytes.length);
    this.#position = offset;
  }

  /** Reads other bytes from now on, so that one reader serves many frames. */
  point(bytes: Uint8Array, offset: number, end: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bufferOf(bytes);
      this.#view = null;
    }
    this.#end = Math.min(end, bytes.length);
    this.#position = offset;
  }

  /** All bytes of the reader; `position` is an index into them. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The same bytes as a DataView. */
  get view(): DataView {
    this.#view ??= viewOf(this.#bytes);
    return this.#view;
  }

  /** The offset of the next byte from the start of `bytes`. */
  get position(): number {
    return this.#position;
  }

  /** Moves back, to read something again. */
  set position(position: number) {
    assert(position >= 0 && position <= this.#position, 'a reader goes back only');
    this.#position = position;
  }

  get remaining(): number {
    return this.#end - this.#position;
  }

  bool(): boolean {
    return this.#bytes[this.#advance(1)] !== 0;
  }

  int(): number {
    return intAt(this.#bytes, this.#advance(4));
  }

  long(): Int64 {
    const at = this.#advance(8);
    const high = intAt(this.#bytes, at);
    const low = intAt(this.#bytes, at + 4) >>> 0;
    const value = high * 0x1_0000_0000 + low;
    return Number.isSafeInteger(value) ? value : int64FromHalves({ high, low });
  }

  /** Returns a view, or null for the length -1. */
  buffer(): Uint8Array | null {
    const length = this.int();
    if (length === -1) return null;
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Malformed UTF-8 becomes U+FFFD, as in Java. Returns null for the length -1. */
  string(): string | null {
    const length = this.int();
    if (length === -1) return null;
    const at = this.#advance(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** As `string`, but creates no new string if the bytes are those of `usual`, which is ASCII. */
  stringOr(usual: string): string | null {
    const length = this.int();
    if (length === -1) return null;
    const at = this.#advance(length);
    if (length === usual.length && this.#has(usual, at)) return usual;
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** Skips a buffer or string and returns its length, -1 for null. */
  skipBuffer(): number {
    const length = this.int();
    if (length !== -1) this.#advance(length);
    return length;
  }

  /** Skips so many bytes. Throws MarshallingError if there are fewer. */
  skip(length: number): void {
    this.#advance(length);
  }

  /** Reads the number of elements of a vector, -1 for null. */
  count(): number {
    const count = this.int();
    if (count < -1 || count * ELEMENT_BYTES_MIN > this.remaining) {
      throw new MarshallingError(`unreasonable count ${count}, ${this.remaining} bytes left`);
    }
    return count;
  }

  /** Returns all bytes that are left, as a view. */
  rest(): Uint8Array {
    const at = this.#advance(this.remaining);
    return this.#bytes.subarray(at, this.#end);
  }

  #has(text: string, at: number): boolean {
    for (let i = 0; i < text.length; i++) {
      if (this.#bytes[at + i] !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  #advance(length: number): number {
    if (length < 0 || length > this.#end - this.#position) this.#refuse(length);
    const at = this.#position;
    this.#position = at + length;
    return at;
  }

  #refuse(length: number): never {
    throw new MarshallingError(`unreasonable length ${length}, ${this.remaining} bytes left`);
  }
}

/**
 * Reads a signed int, big-endian. Faster than Buffer's own method, because it checks nothing: the
 * caller has checked that the offset is in range.
 */
export function intAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16);
  return high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
}

/** Returns the same bytes as a Buffer, without a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns the same bytes as a DataView, without a copy. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const LONG_BYTES = 8;
/** The upper half of the greatest safe integer. */
const HIGH_MAX = (1 << 21) - 1;

/**
 * What members' own records may not lack: jute allows null and negative numbers, these do not.
 *
 * Each throws MarshallingError and says `what` was read. Called by the codecs of transactions and
 * of forwarded requests.
 */
export function requiredString(reader: JuteReader, what: string): string {
  const text = reader.string();
  if (text === null) throw new MarshallingError(`a string of ${what} is null`);
  return text;
}

/** The number of elements of a vector. */
export function requiredCount(reader: JuteReader, what: string): number {
  const count = reader.count();
  if (count < 0) throw new MarshallingError(`a list of ${what} is null`);
  return count;
}

/** An int that is not negative. */
export function requiredCardinal(reader: JuteReader, what: string): number {
  const value = reader.int();
  if (value < 0) throw new MarshallingError(`${value} in ${what} is negative`);
  return value;
}

/** A long that is a whole number, not negative, and safe. */
export function requiredNatural(reader: JuteReader, what: string): number {
  reader.skip(LONG_BYTES);
  return naturalAt(reader.view, reader.position - LONG_BYTES, what);
}

/** Like `requiredNatural`, at an index after which the view has eight bytes, as was checked. */
export function naturalAt(view: DataView, at: number, what: string): number {
  const high = view.getInt32(at);
  if (high >>> 0 > HIGH_MAX) {
    throw new MarshallingError(`a number in ${what} is negative, or too large`);
  }
  return high * 0x1_0000_0000 + view.getUint32(at + 4);
}
