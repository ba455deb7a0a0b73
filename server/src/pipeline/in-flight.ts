/**
 * The common base of the queues of what is in flight: numbers that only grow, in the order of
 * zxids, and an entry for each in typed arrays, so that a write makes no object.
 *
 * It keeps memory for the most that ever were in flight, which the requests that all members may
 * have outstanding bound. DataInFlight, CreatesInFlight and the growths of TreeRoom extend it; they
 * keep their fields at the same indexes.
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
 * Copies `from` to both halves of `into`: whatever index a number, or a hash, has among twice as
 * many entries, what was known of it is there.
 */
export function doubled<T extends Numbers<T>>(from: T, into: T): T {
  into.set(from);
  into.set(from, from.length);
  return into;
}
