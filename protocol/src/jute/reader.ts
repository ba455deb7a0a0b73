/**
 * Reads jute primitives from one frame.
 *
 * Never reads past its end and never allocates by a length it has not checked against what is left:
 * whatever the bytes are, it returns a value or throws MarshallingError. Buffers are views of the
 * frame; whoever keeps one longer than the frame copies it.
 */
import { assert } from '../assert.js';
import { MarshallingError } from '../marshalling-error.js';
import { type Int64, int64FromHalves } from './int64.js';

/** The shortest element of any vector of the protocol: an empty string. */
const ELEMENT_BYTES_MIN = 4;
const SHORT_BYTES = 256;

export class JuteReader {
  #bytes: Buffer;
  #end: number;
  #position: number;
  /** Of all bytes; made when it is first asked for. */
  #view: DataView | null = null;

  constructor(bytes: Uint8Array, offset = 0, end: number = bytes.length) {
    this.#bytes = bufferOf(bytes);
    this.#end = Math.min(end, bytes.length);
    this.#position = offset;
  }

  /** Reads other bytes from now on, as a new reader would: who reads many frames needs one. */
  point(bytes: Uint8Array, offset: number, end: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bufferOf(bytes);
      this.#view = null;
    }
    this.#end = Math.min(end, bytes.length);
    this.#position = offset;
  }

  /** All bytes that were given: `position` is an index of them. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The same, for words at any place; made anew for other bytes. */
  get view(): DataView {
    this.#view ??= viewOf(this.#bytes);
    return this.#view;
  }

  /** Offset of the next byte from the start of the bytes that were given. */
  get position(): number {
    return this.#position;
  }

  /** Back to where it was, for a second look. */
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
    return this.#intAt(this.#advance(4));
  }

  long(): Int64 {
    const at = this.#advance(8);
    const high = this.#intAt(at);
    const low = this.#intAt(at + 4) >>> 0;
    const value = high * 0x1_0000_0000 + low;
    return Number.isSafeInteger(value) ? value : int64FromHalves({ high, low });
  }

  /** A view, or null for length -1. */
  buffer(): Uint8Array | null {
    const length = this.int();
    if (length === -1) return null;
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Malformed UTF-8 becomes U+FFFD, as in Java; null for length -1. */
  string(): string | null {
    const length = this.int();
    if (length === -1) return null;
    const at = this.#advance(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** As `string`; where it is `usual`, of ASCII, none is made. */
  stringOr(usual: string): string | null {
    const length = this.int();
    if (length === -1) return null;
    const at = this.#advance(length);
    if (length === usual.length && this.#has(usual, at)) return usual;
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** Goes past a buffer or string and returns its length, -1 for null. */
  skipBuffer(): number {
    const length = this.int();
    if (length !== -1) this.#advance(length);
    return length;
  }

  /** The number of elements of a vector, or -1 for null. */
  count(): number {
    const count = this.int();
    if (count < -1 || count * ELEMENT_BYTES_MIN > this.remaining) {
      throw new MarshallingError(`unreasonable count ${count}, ${this.remaining} bytes left`);
    }
    return count;
  }

  /** All that is left, as a view. */
  rest(): Uint8Array {
    const at = this.#advance(this.remaining);
    return this.#bytes.subarray(at, this.#end);
  }

  /** All that is left, as a copy. */
  restCopy(): Buffer {
    const length = this.remaining;
    const from = this.#bytes;
    const at = this.#advance(length);
    const copy = Buffer.allocUnsafe(length);
    // For a few bytes a loop beats the call into the runtime, with the view that it makes.
    if (length > SHORT_BYTES) from.copy(copy, 0, at, this.#end);
    else for (let i = 0; i < length; i++) copy[i] = from[at + i] as number;
    return copy;
  }

  /** By hand, which is faster than Buffer's method; the caller has checked that it is in range. */
  #intAt(at: number): number {
    const bytes = this.#bytes;
    const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16);
    return high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
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

/** The same bytes as a Buffer; no copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The same bytes for words at any place; no copy. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
