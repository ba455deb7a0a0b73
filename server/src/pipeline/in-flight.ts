/**
 * What both queues of plain changes in flight are: numbers that only grow, in the order of zxids,
 * and the place of each in typed arrays, since there is one for every write.
 *
 * Holds memory for the most that ever were in flight, which is what all members may have
 * outstanding. DataInFlight and CreatesInFlight extend it; they keep the rest at the same places.
 */
import { assert, type Zxid } from '@rookery/protocol';

/** A power of two. */
export const PLACES_FIRST = 256;

export abstract class InFlight {
  #zxids = new Float64Array(PLACES_FIRST);
  /** Numbers of the first one, and of the next to come. */
  protected first = 0;
  protected end = 0;

  get length(): number {
    return this.end - this.first;
  }

  /** Infinite when there is none. */
  get firstZxid(): Zxid {
    if (this.end === this.first) return Number.POSITIVE_INFINITY;
    return this.#zxids[this.placeOf(this.first)] ?? 0;
  }

  /** The first one is applied. */
  shift(): void {
    assert(this.length > 0, 'the change that is applied was in flight');
    this.first += 1;
  }

  protected placeOf(number: number): number {
    return number & (this.#zxids.length - 1);
  }

  /** A number behind all others: the last one before `end`. */
  protected push(zxid: Zxid): number {
    if (this.length === this.#zxids.length) {
      this.#zxids = twice(this.#zxids, new Float64Array(2 * this.length));
      this.grow(this.#zxids.length);
    }
    const number = this.end;
    this.end += 1;
    this.#zxids[this.placeOf(number)] = zxid;
    return number;
  }

  /** Each array gets so many places: `twice` as many. */
  protected abstract grow(places: number): void;
}

interface Places<T> {
  readonly length: number;
  set(from: T, at?: number): void;
}

/**
 * `from` in both halves of `into`: whatever place a number, or a hash, has among twice as many,
 * what was known of it is there.
 */
export function twice<T extends Places<T>>(from: T, into: T): T {
  into.set(from);
  into.set(from, from.length);
  return into;
}
