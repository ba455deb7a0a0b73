/**
 * The common base of the queues of changes in flight. Each change gets the next number, in the
 * order of zxids, and an entry in typed arrays, so that a write makes no object.
 *
 * The arrays are rings: the index of an entry is its number modulo their length (`indexOf`). They
 * double when they are full and never shrink; the requests that all members may have outstanding
 * bound the queue. DataInFlight, CreatesInFlight and GrowthsInFlight (tree-room.ts) extend this
 * class, and keep their fields in arrays of their own at the same indexes.
 */
import { assert, type Zxid } from '@rookery/protocol';

/** A power of two. */
export const CAPACITY_FIRST = 256;

export abstract class InFlight {
  #zxids = new Float64Array(CAPACITY_FIRST);
  /** The number of the first entry, and of the next to come. */
  protected first = 0;
  protected end = 0;

  get length(): number {
    return this.end - this.first;
  }

  /** Infinite if there is none. */
  get firstZxid(): Zxid {
    if (this.end === this.first) return Number.POSITIVE_INFINITY;
    return this.#zxids[this.indexOf(this.first)] ?? 0;
  }

  /** The first one was applied. */
  shift(): void {
    assert(this.length > 0, 'the change that is applied was in flight');
    this.first += 1;
  }

  protected indexOf(number: number): number {
    return number & (this.#zxids.length - 1);
  }

  /** Adds an entry after all others. Returns its number. */
  protected push(zxid: Zxid): number {
    if (this.length === this.#zxids.length) {
      this.#zxids = doubled(this.#zxids, new Float64Array(2 * this.length));
      this.grow(this.#zxids.length);
    }
    const number = this.end;
    this.end += 1;
    this.#zxids[this.indexOf(number)] = zxid;
    return number;
  }

  /** Enlarges each array to this many entries, twice as many as before (see `doubled`). */
  protected abstract grow(capacity: number): void;
}

interface Numbers<T> {
  readonly length: number;
  set(from: T, at?: number): void;
}

/**
 * Copies `from` to both halves of `into`. The index of a number, or of a hash, is its low bits. In
 * an array of twice the length it has one bit more, so it stays or grows by the former length, and
 * the entry is at both places.
 */
export function doubled<T extends Numbers<T>>(from: T, into: T): T {
  into.set(from);
  into.set(from, from.length);
  return into;
}
