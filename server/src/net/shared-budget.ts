/**
 * A budget of memory that all connections of a member share, and the choice of which connections
 * are closed when it is used up.
 *
 * It keeps only the sum: holders report how much more or less they hold. The largest holder does
 * not count, so that a single client gets an answer of any size: the memory is bounded by the
 * budget plus one holder. When the others exceed the budget, holders are closed until an eighth of
 * it is free, so that the search for them is rare: the largest ones of the group that holds most,
 * so that many small holders of one address close nobody else. Of those that stay, the largest does
 * not count either. Used by the client port.
 */
import { assert } from '@rookery/protocol';

/** The part of the budget that is free after connections were closed. */
const SPARE_PART = 1 / 8;

interface Held<Holder> {
  readonly holder: Holder;
  readonly bytes: number;
  readonly group: unknown;
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

  /**
   * The holders to close: those of the group that holds most, such as an address, before others,
   * and in each group the largest first. Each reports what it gives back.
   */
  excess(
    holders: Iterable<Holder>,
    bytesOf: (holder: Holder) => number,
    groupOf: (holder: Holder) => unknown,
  ): readonly Holder[] {
    const held: Held<Holder>[] = [];
    const sums = new Map<unknown, number>();
    for (const holder of holders) {
      const bytes = bytesOf(holder);
      if (bytes <= 0) continue;
      const group = groupOf(holder);
      held.push({ holder, bytes, group });
      sums.set(group, (sums.get(group) ?? 0) + bytes);
    }
    const sumOf = ({ group }: Held<Holder>): number => sums.get(group) ?? 0;
    held.sort((one, other) => sumOf(other) - sumOf(one) || other.bytes - one.bytes);
    const largest = largestFromEach(held);
    if (this.#bytes - (largest[0] ?? 0) <= this.bytesMax) {
      this.#searchAboveBytes = this.bytesMax + (largest[0] ?? 0);
      return [];
    }
    const keptMax = this.bytesMax * (1 - SPARE_PART);
    let leftBytes = this.#bytes;
    const closed = held.findIndex(({ bytes }, index) => {
      if (leftBytes - (largest[index] ?? 0) <= keptMax) return true;
      leftBytes -= bytes;
      return false;
    });
    return held.slice(0, closed < 0 ? held.length : closed).map(({ holder }) => holder);
  }
}

/** The bytes of the largest holder from each index on. */
function largestFromEach<Holder>(held: readonly Held<Holder>[]): readonly number[] {
  let largest = 0;
  return held
    .toReversed()
    .map(({ bytes }) => {
      largest = Math.max(largest, bytes);
      return largest;
    })
    .toReversed();
}
