/**
 * Writes jute primitives, and frames of them, into one growing buffer.
 *
 * `take` hands over a view of what was written, and the writer continues behind it in the same
 * slab, or in a new one if that is full. Only `recycle` overwrites bytes that were taken. A reply
 * is therefore written once and goes to the socket without a copy. Writers that share a pool hold a
 * slab only until they `release` or `recycle` it. `long` takes an Int64; `int` a signed 32-bit
 * integer; both throw on anything else. A frame too large for its length field is dropped with
 * a FrameTooLargeError before memory is allocated for it.
 */
import { assert } from '../basics/assert.js';
import { FrameTooLargeError } from './errors.js';
import type { Int64 } from './int64.js';
import { viewOf } from './reader.js';

const NO_FRAME = -1;
const LENGTH_BYTES = 4;
/** The length field of a frame is signed. */
const FRAME_BYTES_MAX = 2 ** 31 - 1;
/** The first slab of a writer without a pool, which may write one short record only. */
const FIRST_SLAB_BYTES = 256;
const NO_SLAB = newSlab(0);

/** Below this length a loop over char codes is faster than the runtime's encoder. */
const SHORT_STRING_CHARS = 48;

export class JuteWriter {
  readonly #pool: SlabPool | null;
  readonly #slabBytesMax: number;
  readonly #frameBytesMax: number;
  /** The offset in the slab at which this writer began. */
  #first = 0;
  #slab: Slab = NO_SLAB;
  /** The buffer and the view of the slab. */
  #buffer: Buffer = NO_SLAB.buffer;
  #view: DataView = NO_SLAB.view;
  /** The offset of the first byte that was not taken yet. */
  #start = 0;
  #position = 0;
  /** The offset of the open frame's length field from `#start`, or NO_FRAME. */
  #frame = NO_FRAME;

  /**
   * A writer without a pool gets slabs that double in size up to `slabBytesMax`. What is larger has
   * memory of its own.
   */
  constructor(
    pool: SlabPool | null = null,
    slabBytesMax = SLAB_BYTES,
    frameBytesMax = FRAME_BYTES_MAX,
  ) {
    assert(pool === null || slabBytesMax === SLAB_BYTES, 'the slabs of a pool have one size');
    this.#pool = pool;
    this.#slabBytesMax = slabBytesMax;
    this.#frameBytesMax = frameBytesMax;
  }

  /** The number of bytes that were written and not taken. */
  get length(): number {
    return this.#position - this.#start;
  }

  /** How much can be written before what was not taken has to be moved to another slab. */
  get room(): number {
    return this.#buffer.length - this.#position;
  }

  /** The size of the slab, used or not; 0 while the writer has none. */
  get slabBytes(): number {
    return this.#buffer.length;
  }

  /** Drops all bytes that were not taken. */
  reset(): void {
    this.#position = this.#start;
    this.#frame = NO_FRAME;
  }

  /** Drops what was written beyond `length` bytes, and a frame that began there. */
  truncate(length: number): void {
    assert(length >= 0 && length <= this.length, 'truncate is not past the end');
    this.#position = this.#start + length;
    if (this.#frame >= length) this.#frame = NO_FRAME;
  }

  /** All bytes since the last `take`, as a view that is valid until more is written or taken. */
  get untaken(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#position);
  }

  /** Returns all bytes since the last `take`, as a view that belongs to the caller. */
  take(): Uint8Array {
    assert(this.#frame === NO_FRAME, 'no frame is open at take');
    const taken = this.#buffer.subarray(this.#start, this.#position);
    this.#start = this.#position;
    if (this.#buffer.length > this.#slabBytesMax) this.release();
    return taken;
  }

  /**
   * Gives the slab back to the pool. Everything written must have been taken or dropped. Bytes that
   * were taken keep the whole slab in memory, so release it only after they were sent.
   */
  release(): void {
    assert(this.length === 0, 'nothing waits to be taken at release');
    if (this.#slab === NO_SLAB) return;
    this.#slab.used = this.#position;
    this.#pool?.give(this.#slab);
    this.#useSlab(NO_SLAB, 0);
  }

  /**
   * Reserves space for a record of fixed size and returns its offset. The caller writes it through
   * `view`, which must be obtained after this call.
   */
  claim(bytes: number): number {
    this.#reserve(bytes);
    const at = this.#position;
    this.#position = at + bytes;
    return at;
  }

  /** Allocates room for `bytes` more, so that writing them copies nothing. */
  reserve(bytes: number): void {
    this.#reserve(bytes);
  }

  get view(): DataView {
    return this.#view;
  }

  /**
   * As `release`, for when nobody uses any more what this writer handed out: the memory is written
   * again. Bytes that were in the slab before this writer got it stay untouched.
   */
  recycle(): void {
    assert(this.length === 0, 'nothing waits to be taken at recycle');
    this.#position = this.#first;
    this.#start = this.#first;
    this.release();
  }

  beginFrame(): void {
    assert(this.#frame === NO_FRAME, 'frames do not nest');
    this.#reserve(LENGTH_BYTES);
    this.#frame = this.length;
    this.#position += LENGTH_BYTES;
  }

  /** Fills in the length field of the open frame. Throws FrameTooLargeError. */
  endFrame(): void {
    assert(this.#frame !== NO_FRAME, 'a frame is open at endFrame');
    this.#checkFrame(0);
    const at = this.#start + this.#frame;
    this.#view.setInt32(at, this.#position - at - LENGTH_BYTES);
    this.#frame = NO_FRAME;
  }

  bool(value: boolean): void {
    this.#reserve(1);
    this.#buffer[this.#position++] = value ? 1 : 0;
  }

  int(value: number): void {
    assert((value | 0) === value, 'an int is of 32 bits');
    this.#reserve(4);
    this.#view.setInt32(this.#position, value);
    this.#position += 4;
  }

  long(value: Int64): void {
    this.#reserve(8);
    if (typeof value === 'bigint') {
      assert(BigInt.asIntN(64, value) === value, 'a long is of 64 bits, signed');
      this.#view.setBigInt64(this.#position, value);
    } else {
      assert(Number.isSafeInteger(value), 'a long that is a number is a safe integer');
      putLong(this.#view, this.#position, value);
    }
    this.#position += 8;
  }

  buffer(value: Uint8Array | null): void {
    if (value === null) {
      this.int(-1);
      return;
    }
    this.int(value.length);
    this.raw(value);
  }

  string(value: string | null): void {
    if (value === null) {
      this.int(-1);
      return;
    }
    // A UTF-16 unit takes at most three bytes in UTF-8.
    this.#reserve(4 + value.length * 3);
    const at = this.#position;
    this.#position = at + 4 + this.#encode(value, at + 4);
    this.#view.setInt32(at, this.#position - at - 4);
  }

  /** Appends a copy of the bytes, without a length. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  /** As `raw`, for bytes within `source`; for a few bytes this is faster than creating a view. */
  rawWithin(source: DataView, start: number, length: number): void {
    this.#reserve(length);
    const view = this.#view;
    const end = start + length;
    let from = start;
    let to = this.#position;
    // Reading four words before any is written takes two thirds of the time: after each write the
    // compiler loads again where both views are.
    for (; from + 16 <= end; from += 16, to += 16) {
      const first = source.getInt32(from, true);
      const second = source.getInt32(from + 4, true);
      const third = source.getInt32(from + 8, true);
      const fourth = source.getInt32(from + 12, true);
      view.setInt32(to, first, true);
      view.setInt32(to + 4, second, true);
      view.setInt32(to + 8, third, true);
      view.setInt32(to + 12, fourth, true);
    }
    for (; from + 4 <= end; from += 4, to += 4) {
      view.setInt32(to, source.getInt32(from, true), true);
    }
    while (from < end) view.setUint8(to++, source.getUint8(from++));
    this.#position = to;
  }

  #encode(value: string, at: number): number {
    if (value.length > SHORT_STRING_CHARS) return this.#buffer.write(value, at, 'utf8');
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return this.#buffer.write(value, at, 'utf8');
      this.#buffer[at + index] = code;
    }
    return value.length;
  }

  #reserve(bytes: number): void {
    if (this.#position + bytes > this.#buffer.length) this.#grow(bytes);
  }

  /** Whether the open frame may have `bytes` more. Drops the frame and throws if it may not. */
  #checkFrame(bytes: number): void {
    if (this.#frame === NO_FRAME) return;
    const frameBytes = this.length - this.#frame - LENGTH_BYTES + bytes;
    if (frameBytes <= this.#frameBytesMax) return;
    this.truncate(this.#frame);
    throw new FrameTooLargeError(`a frame would have ${frameBytes} bytes`);
  }

  #grow(bytes: number): void {
    this.#checkFrame(bytes);
    const kept = this.length;
    const needed = kept + bytes;
    const slab = this.#nextSlab(needed, kept);
    this.#buffer.copy(slab.buffer, slab.used, this.#start, this.#position);
    // The next writer continues at the first byte that was not taken.
    this.#slab.used = this.#start;
    this.#pool?.give(this.#slab);
    this.#useSlab(slab, kept);
  }

  /**
   * A new slab has twice the size of what is kept. A long series of writes therefore copies each
   * byte a bounded number of times, and one large record takes little more than its own size.
   */
  #nextSlab(needed: number, kept: number): Slab {
    const most = this.#slabBytesMax;
    // In a slab for many records a large one might leave much of the slab unused, and that part
    // stays in memory as long as the record.
    const isLarge = needed > (this.#pool === null ? most / 4 : most);
    if (isLarge) return newSlab(needed + Math.max(kept, FIRST_SLAB_BYTES));
    if (this.#pool !== null) return this.#pool.take(needed);
    const wanted = Math.max(FIRST_SLAB_BYTES, needed, this.#buffer.length) * 2;
    return newSlab(Math.min(wanted, most));
  }

  #useSlab(slab: Slab, length: number): void {
    this.#slab = slab;
    this.#buffer = slab.buffer;
    this.#view = slab.view;
    this.#first = slab.used;
    this.#start = slab.used;
    this.#position = slab.used + length;
  }
}

/** Writes a safe integer as a long, at an offset that `claim` returned. */
export function putLong(view: DataView, at: number, value: number): void {
  view.setInt32(at, Math.floor(value / 0x1_0000_0000));
  view.setInt32(at + 4, value | 0);
}

export const SLAB_BYTES = 16 * 1024;

/** Enough for a few small replies or events. */
const SMALL_BYTES = 512;
/** The number of idle slabs that are kept; they have 1 MB. */
const IDLE_MAX = 64;
/** The number of idle small slabs that are kept; they have 1 MB, too. */
const SMALL_IDLE_MAX = 2048;
/** A slab is used up when less than this part of it is left. */
const ROOM_PART = 16;

interface Slab {
  readonly buffer: Buffer;
  /** The same memory; several times faster for integers than Buffer's own methods. */
  readonly view: DataView;
  /** The offset from which the slab is free. */
  used: number;
}

/**
 * A pool of buffers (slabs) that writers share. Each slab is lent to one writer at a time, which
 * appends behind what the previous one left in it.
 *
 * Thousands of idle connections therefore hold no memory for output, and a connection that comes
 * and goes leaves no garbage. When many write a little at once (one event for thousands of
 * watchers), those who find no slab get small ones. The pool never looks at the bytes; only a
 * writer that recycles overwrites what was written. It keeps a few slabs and leaves the rest to the
 * garbage collector.
 */
export class SlabPool {
  readonly #idle: Slab[] = [];
  readonly #smallIdle: Slab[] = [];

  /** The number of slabs that are kept for the next writers, including small ones. */
  get idle(): number {
    return this.#idle.length + this.#smallIdle.length;
  }

  /** Lends a slab with space for `bytes`, at most SLAB_BYTES, until the caller gives it back. */
  take(bytes: number): Slab {
    const slab = this.#idle.pop();
    if (slab !== undefined && hasRoom(slab, bytes)) return slab;
    if (bytes > SMALL_BYTES) return newSlab(SLAB_BYTES);
    const small = this.#smallIdle.pop();
    return small !== undefined && hasRoom(small, bytes) ? small : newSlab(SMALL_BYTES);
  }

  /** Takes a slab back; the caller no longer writes to it. */
  give(slab: Slab): void {
    const { length } = slab.buffer;
    if (!hasRoom(slab, length / ROOM_PART)) return;
    if (length === SLAB_BYTES && this.#idle.length < IDLE_MAX) this.#idle.push(slab);
    if (length === SMALL_BYTES && this.#smallIdle.length < SMALL_IDLE_MAX) {
      this.#smallIdle.push(slab);
    }
  }
}

function hasRoom(slab: Slab, bytes: number): boolean {
  return slab.used + bytes <= slab.buffer.length;
}

/** Avoids the runtime's pool, which a small buffer that lives long would keep in memory. */
function newSlab(bytes: number): Slab {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return { buffer, view: viewOf(buffer), used: 0 };
}
