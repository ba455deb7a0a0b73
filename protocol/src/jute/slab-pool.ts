/**
 * The slabs that writers share: each is lent to one writer at a time, and goes on behind what the
 * last one left in it.
 *
 * So thousands of idle connections hold no memory for output, and one that comes and goes leaves
 * none to be collected. Never looks at the bytes; what was written is never touched again. Keeps a
 * few slabs at most: those that were needed at once, by a crowd, are left to the collector.
 */
export const SLAB_BYTES = 16 * 1024;

/** Idle slabs that are kept: 1 MB. */
const IDLE_MAX = 64;
/** A slab with less room than this is used up. */
const ROOM_BYTES_MIN = 1024;

export interface Slab {
  readonly buffer: Buffer;
  /** The same memory; several times faster for integers than Buffer's own methods. */
  readonly view: DataView;
  /** Free from here on. */
  used: number;
}

export class SlabPool {
  readonly #idle: Slab[] = [];

  /** Slabs that are kept for the next writers. */
  get idle(): number {
    return this.#idle.length;
  }

  /** A slab with room for `bytes`, at most SLAB_BYTES; the caller's alone until given back. */
  take(bytes: number): Slab {
    const slab = this.#idle.pop();
    return slab !== undefined && slab.used + bytes <= SLAB_BYTES ? slab : newSlab(SLAB_BYTES);
  }

  /** The caller writes to it no more. */
  give(slab: Slab): void {
    const isWorthIt = slab.buffer.length === SLAB_BYTES && SLAB_BYTES - slab.used >= ROOM_BYTES_MIN;
    if (isWorthIt && this.#idle.length < IDLE_MAX) this.#idle.push(slab);
  }
}

/** Not from the runtime's pool: what is small and lives long would keep that alive. */
export function newSlab(bytes: number): Slab {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return { buffer, view: new DataView(buffer.buffer, buffer.byteOffset, bytes), used: 0 };
}
