/**
 * Cuts a byte stream into frames: a 4-byte big-endian length, then that many bytes.
 *
 * Chunks are queued as they come and a frame is only copied when it spans chunks. So the work is
 * linear. Memory is bounded by twice what has really arrived, or by about 8 KB if that is more:
 * memory for a whole frame is allocated only once half of it is there. The length is checked as
 * soon as it is known. A pushed chunk belongs to the reader, and nobody else writes to it again,
 * unless the caller only lends it (`giveBack`). Used by client connections and by peer links, with
 * limits of their own.
 */
import { assert } from '../basics/assert.js';
import type { JuteReader } from './reader.js';

/** The stream cannot be cut into further frames and has to be closed. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

const HEADER_BYTES = 4;
const NO_FRAME = -1;
const EMPTY = Buffer.alloc(0);

/** Smaller chunks are copied together, so a stream of single bytes takes little memory. */
const SMALL_CHUNK_BYTES = 1024;
const GATHER_BYTES = 8 * 1024;

export class FrameReader {
  #frameBytesMax: number;
  /** The head chunk starts at `#offset`; consumed chunks before `#head` await removal. */
  #chunks: Uint8Array[] = [];
  #head = 0;
  #offset = 0;
  #buffered = 0;
  /**
   * The reader's own memory that holds the last chunk; null if the chunk belongs to somebody else.
   */
  #tail: Uint8Array | null = null;
  #tailUsed = 0;
  /** The memory of the next frame while it arrives in parts; null if those are in the chunks. */
  #whole: Buffer | null = null;
  #wholeUsed = 0;

  constructor(frameBytesMax: number) {
    assert(Number.isSafeInteger(frameBytesMax) && frameBytesMax > 0, 'the limit is positive');
    this.#frameBytesMax = frameBytesMax;
  }

  /** The bytes that were pushed and are not part of a returned frame. */
  get bufferedBytes(): number {
    return this.#buffered + this.#wholeUsed;
  }

  /**
   * The memory that the reader keeps: what was pushed and not returned, with the returned part of
   * its first chunk and the unused part of its last one or of the next frame.
   */
  get heldBytes(): number {
    const unused = this.#tail === null ? 0 : this.#tail.length - this.#tailUsed;
    return this.#buffered + this.#offset + unused + (this.#whole?.length ?? 0);
  }

  /** Sets the limit for all frames that are returned from now on. */
  set frameBytesMax(bytes: number) {
    this.#frameBytesMax = bytes;
  }

  /** Drops everything that was pushed; the stream is read no further. */
  clear(): void {
    this.#skip(this.#buffered);
    this.#whole = null;
    this.#wholeUsed = 0;
  }

  push(pushed: Uint8Array): void {
    const chunk = this.#whole === null ? pushed : this.#fill(this.#whole, pushed);
    if (chunk.length === 0) return;
    const isFirst = this.#buffered === 0;
    this.#buffered += chunk.length;
    if (isFirst || chunk.length > SMALL_CHUNK_BYTES) {
      if (this.#tail !== null) this.#trimTail(this.#tail);
      this.#chunks.push(chunk);
      return;
    }
    this.#gather(chunk);
  }

  /**
   * Returns the chunk that was pushed last to its lender; what is left of it is copied. A caller
   * that lends chunks calls this after each push, once it has taken the complete frames.
   */
  giveBack(): void {
    const last = this.#chunks.length - 1;
    if (last < 0 || this.#tail !== null) return;
    if (this.#hasHalfOfFrame) return this.#beginWhole();
    const from = last === this.#head ? this.#offset : 0;
    this.#chunks[last] = Uint8Array.prototype.slice.call(this.#chunkAt(last), from);
    if (last === this.#head) this.#offset = 0;
  }

  /**
   * Returns the next complete frame without its length field, or null. It is a view that is valid
   * until the next push, or until the lender of the chunk uses its memory again. Throws FrameError
   * for a length that is negative or above the limit, and from then on at each call.
   */
  next(): Uint8Array | null {
    if (this.#whole !== null) return this.#takeWhole();
    const length = this.#nextLength();
    if (length === NO_FRAME) return null;
    this.#skip(HEADER_BYTES);
    return this.#consume(length);
  }

  /** As `next`, but the frame is copied into memory of its own. */
  nextOwn(): Uint8Array | null {
    if (this.#whole !== null) return this.#takeWhole();
    const length = this.#nextLength();
    if (length === NO_FRAME) return null;
    this.#skip(HEADER_BYTES);
    const isWhole = length === 0 || this.#chunkAt(this.#head).length - this.#offset >= length;
    const frame = this.#consume(length);
    return isWhole ? new Uint8Array(frame) : frame;
  }

  /**
   * Points `reader` at the next complete frame, as `next` would return it. Returns false if there
   * is none. Throws as `next` does.
   */
  pointAtNext(reader: JuteReader): boolean {
    if (this.#whole !== null) {
      const whole = this.#takeWhole();
      if (whole !== null) reader.point(whole, 0, whole.length);
      return whole !== null;
    }
    const length = this.#nextLength();
    if (length === NO_FRAME) return false;
    const head = this.#chunkAt(this.#head);
    const start = this.#offset + HEADER_BYTES;
    if (start + length <= head.length) {
      this.#skip(HEADER_BYTES + length);
      reader.point(head, start, start + length);
    } else {
      this.#skip(HEADER_BYTES);
      reader.point(this.#consume(length), 0, length);
    }
    return true;
  }

  /** Returns the length of the next frame, whose header is not skipped, or NO_FRAME. */
  #nextLength(): number {
    if (this.#buffered < HEADER_BYTES) return NO_FRAME;
    const length = this.#peekLength();
    if (length < 0 || length > this.#frameBytesMax) {
      throw new FrameError(`a frame of ${length} bytes, the limit is ${this.#frameBytesMax}`);
    }
    return this.#buffered < HEADER_BYTES + length ? NO_FRAME : length;
  }

  /**
   * Whether at least half of the next frame, but not all of it, is in the chunks. False while a
   * frame before it, which may be complete and not taken yet, has memory of its own.
   */
  get #hasHalfOfFrame(): boolean {
    if (this.#whole !== null || this.#buffered < HEADER_BYTES) return false;
    const length = this.#peekLength();
    const arrived = this.#buffered - HEADER_BYTES;
    return arrived < length && arrived * 2 >= length && length <= this.#frameBytesMax;
  }

  /** Moves the next frame to memory of its own, where what comes of it is written from now on. */
  #beginWhole(): void {
    const whole = Buffer.allocUnsafeSlow(this.#peekLength());
    this.#skip(HEADER_BYTES);
    const { length } = whole;
    this.#wholeUsed = this.#buffered;
    this.#moveTo(whole, this.#buffered);
    assert(this.#wholeUsed < length, () => `${this.#wholeUsed} of ${length} bytes are a part`);
    this.#whole = whole;
  }

  /** Returns what follows the frame in the chunk. */
  #fill(whole: Buffer, chunk: Uint8Array): Uint8Array {
    const wanted = whole.length - this.#wholeUsed;
    if (wanted === 0) return chunk;
    const part = chunk.length <= wanted ? chunk : chunk.subarray(0, wanted);
    whole.set(part, this.#wholeUsed);
    this.#wholeUsed += part.length;
    return chunk.subarray(part.length);
  }

  #takeWhole(): Buffer | null {
    const whole = this.#whole;
    if (whole === null || this.#wholeUsed < whole.length) return null;
    this.#whole = null;
    this.#wholeUsed = 0;
    return whole;
  }

  /** Appends to the last chunk if the reader owns it and it has space, else begins a new one. */
  #gather(chunk: Uint8Array): void {
    if (this.#tail === null || this.#tail.length - this.#tailUsed < chunk.length) {
      // A stream of short frames only, such as handshakes, needs memory for one of them.
      const room = Math.min(GATHER_BYTES, HEADER_BYTES + this.#frameBytesMax);
      this.#tail = Buffer.allocUnsafeSlow(Math.max(room, chunk.length));
      this.#tailUsed = 0;
      this.#chunks.push(this.#tail.subarray(0, 0));
    }
    this.#tail.set(chunk, this.#tailUsed);
    this.#tailUsed += chunk.length;
    this.#chunks[this.#chunks.length - 1] = this.#tail.subarray(0, this.#tailUsed);
  }

  /**
   * A chunk that belongs to somebody else follows, so nothing more is appended to the reader's own
   * memory. Its unused part is given up; otherwise a stream that alternates between small and large
   * chunks would make the reader hold far more than it received.
   */
  #trimTail(tail: Uint8Array): void {
    this.#chunks[this.#chunks.length - 1] = Uint8Array.prototype.slice.call(
      tail,
      0,
      this.#tailUsed,
    );
    this.#tail = null;
  }

  #peekLength(): number {
    const head = this.#chunkAt(this.#head);
    const at = this.#offset;
    if (head.length - at >= HEADER_BYTES) {
      const high = ((head[at] ?? 0) << 24) | ((head[at + 1] ?? 0) << 16);
      return high | ((head[at + 2] ?? 0) << 8) | (head[at + 3] ?? 0);
    }
    let length = 0;
    let index = this.#head;
    let offset = this.#offset;
    for (let read = 0; read < HEADER_BYTES; read++) {
      while (offset === this.#chunkAt(index).length) {
        index++;
        offset = 0;
      }
      length = (length << 8) | (this.#chunkAt(index)[offset++] ?? 0);
    }
    return length;
  }

  #consume(length: number): Uint8Array {
    if (length === 0) return EMPTY;
    const head = this.#chunkAt(this.#head);
    if (head.length - this.#offset >= length) {
      const frame = head.subarray(this.#offset, this.#offset + length);
      this.#skip(length);
      return frame;
    }
    const frame = Buffer.allocUnsafeSlow(length);
    this.#moveTo(frame, length);
    return frame;
  }

  /** Copies the next `length` bytes of the chunks to the beginning of `frame`. */
  #moveTo(frame: Buffer, length: number): void {
    let filled = 0;
    while (filled < length) {
      const chunk = this.#chunkAt(this.#head);
      const take = Math.min(chunk.length - this.#offset, length - filled);
      frame.set(chunk.subarray(this.#offset, this.#offset + take), filled);
      filled += take;
      this.#skip(take);
    }
  }

  /** Advances by `count` available bytes and drops every chunk that is used up. */
  #skip(count: number): void {
    this.#buffered -= count;
    this.#offset += count;
    if (this.#buffered === 0) {
      // Setting the length instead would be a call into the runtime.
      if (this.#chunks.length === 1) this.#chunks.pop();
      else this.#chunks = [];
      this.#head = 0;
      this.#offset = 0;
      this.#tail = null;
      return;
    }
    while (this.#offset >= this.#chunkAt(this.#head).length) {
      this.#offset -= this.#chunkAt(this.#head).length;
      this.#chunks[this.#head++] = EMPTY;
    }
    if (this.#head > 64 && this.#head * 2 > this.#chunks.length) {
      this.#chunks.splice(0, this.#head);
      this.#head = 0;
    }
  }

  #chunkAt(index: number): Uint8Array {
    const chunk = this.#chunks[index];
    assert(chunk !== undefined, 'the chunks hold all buffered bytes');
    return chunk;
  }
}
