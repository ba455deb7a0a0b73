/**
 * A budget of memory that all connections of a member share, and the choice of which connections
 * are closed when it is used up.
 *
 * It keeps only the sum: holders report how much more or less they hold. The largest holder does
 * not count, so that a single client gets an answer of any size: the memory is bounded by the
 * budget plus one holder. When the others exceed the budget, the largest holders are closed, that
 * one first, until an eighth of the budget is free, so that the search for them is rare. Of those
 * that stay, the largest does not count either. Used by the client port.
 */
import { assert } from '@rookery/protocol';

/** The part of the budget that is free after connections were closed. */
const SPARE_PART = 1 / 8;

interface Held<Holder> {
  readonly holder: Holder;
  readonly bytes: number;
}

export class SharedBudget<Holder> {
  readonly bytesMax: number;
  #bytes = 0;
  /** If only the largest holder is beyond the budget, no search is made up to this sum. */
  #searchAboveBytes: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#searchAboveBytes = bytesMax;
  }

  /** The bytes of all holders together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether `excess` should be asked now. */
  get isExceeded(): boolean {
    return this.#bytes > this.#searchAboveBytes;
  }

  /** A holder has `bytes` more, or fewer if negative. */
  add(bytes: number): void {
    this.#bytes += bytes;
    assert(this.#bytes >= 0, () => `${this.#bytes} bytes are held`);
    if (this.#bytes <= this.bytesMax) this.#searchAboveBytes = this.bytesMax;
  }

  /** The holders to close, the largest first. Each reports what it gives back. */
  excess(holders: Iterable<Holder>, bytesOf: (holder: Holder) => number): readonly Holder[] {
    const held: Held<Holder>[] = [];
    for (const holder of holders) {
      const bytes = bytesOf(holder);
      if (bytes > 0) held.push({ holder, bytes });
    }
    held.sort((one, other) => other.bytes - one.bytes);
    const spareBytes = this.bytesMax * SPARE_PART;
    const largestBytes = held[0]?.bytes ?? 0;
    if (this.#bytes - largestBytes <= this.bytesMax) {
      this.#searchAboveBytes = this.bytesMax + largestBytes;
      return [];
    }
    let leftBytes = this.#bytes;
    const closed = held.findIndex(({ bytes }) => {
      if (leftBytes - bytes <= this.bytesMax - spareBytes) return true;
      leftBytes -= bytes;
      return false;
    });
    return held.slice(0, closed < 0 ? held.length : closed).map(({ holder }) => holder);
  }
}
