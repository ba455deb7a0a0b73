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
import { viewOf } from './reader.js';

export const SLAB_BYTES = 16 * 1024;

/** Enough for a few small replies or events. */
const SMALL_BYTES = 512;
/** The number of idle slabs that are kept; they have 1 MB. */
const IDLE_MAX = 64;
/** The number of idle small slabs that are kept; they have 1 MB, too. */
const SMALL_IDLE_MAX = 2048;
/** A slab is used up when less than this part of it is left. */
const ROOM_PART = 16;

export interface Slab {
  readonly buffer: Buffer;
  /** The same memory; several times faster for integers than Buffer's own methods. */
  readonly view: DataView;
  /** The offset from which the slab is free. */
  used: number;
}

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
export function newSlab(bytes: number): Slab {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return { buffer, view: viewOf(buffer), used: 0 };
}
