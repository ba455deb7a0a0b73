/**
 * The slabs that writers share: each is lent to one writer at a time, and goes on behind what the
 * last one left in it.
 *
 * So thousands of idle connections hold no memory for output, and one that comes and goes leaves
 * none to be collected. When a crowd writes at once, each a little (one event for thousands), those
 * who find no slab get small ones. Never looks at the bytes; what was written is touched again only
 * by a writer that recycles. Keeps a few slabs at most: more of them are left to the collector.
 */
import { viewOf } from './reader.js';

export const SLAB_BYTES = 16 * 1024;

/** For a few small replies or events. */
const SMALL_BYTES = 512;
/** Idle slabs that are kept: 1 MB, */
const IDLE_MAX = 64;
/** and small ones: as much at most. */
const SMALL_IDLE_MAX = 2048;
/** A slab is used up when less than this part of it is left. */
const ROOM_PART = 16;
const NOTHING = Buffer.alloc(0);

export interface Slab {
  readonly buffer: Buffer;
  /** The same memory; several times faster for integers than Buffer's own methods. */
  readonly view: DataView;
  /** Free from here on. */
  used: number;
  /** The bytes that were taken last: writers that recycle take the same ones again and again. */
  taken: Buffer;
  takenStart: number;
  takenEnd: number;
}

/** A view of the slab's bytes: that of the last time when it is the same. */
export function bytesOf(slab: Slab, start: number, end: number): Buffer {
  if (slab.takenStart !== start || slab.takenEnd !== end) {
    slab.taken = slab.buffer.subarray(start, end);
    slab.takenStart = start;
    slab.takenEnd = end;
  }
  return slab.taken;
}

export class SlabPool {
  readonly #idle: Slab[] = [];
  readonly #smallIdle: Slab[] = [];

  /** Slabs that are kept for the next writers, small ones too. */
  get idle(): number {
    return this.#idle.length + this.#smallIdle.length;
  }

  /** A slab with room for `bytes`, at most SLAB_BYTES; the caller's alone until given back. */
  take(bytes: number): Slab {
    const slab = this.#idle.pop();
    if (slab !== undefined && hasRoom(slab, bytes)) return slab;
    if (bytes > SMALL_BYTES) return newSlab(SLAB_BYTES);
    const small = this.#smallIdle.pop();
    return small !== undefined && hasRoom(small, bytes) ? small : newSlab(SMALL_BYTES);
  }

  /** The caller writes to it no more. */
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

/** Not from the runtime's pool: what is small and lives long would keep that alive. */
export function newSlab(bytes: number): Slab {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return { buffer, view: viewOf(buffer), used: 0, taken: NOTHING, takenStart: 0, takenEnd: 0 };
}
