/**
 * Memory of one kind that all connections of a member share, and who is closed when it is used up.
 *
 * Owns the sum and the choice, not the memory: holders report how much more or less they hold.
 * Those who hold most are closed, until an eighth of the budget is free again, so that the search
 * for them is rare. The largest holder is not counted: who is alone gets an answer of any size. So
 * what is held is at most the budget and what one holder has. Used by the client port.
 */
import { assert } from '@rookery/protocol';

/** What is free once somebody had to be closed, as a part of the budget. */
const SPARE_PART = 1 / 8;

interface Held<Holder> {
  readonly holder: Holder;
  readonly bytes: number;
}

export class SharedBudget<Holder> {
  readonly bytesMax: number;
  #bytes = 0;
  /** The largest holder alone may be beyond the budget: then nobody is looked for up to here. */
  #searchAboveBytes: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#searchAboveBytes = bytesMax;
  }

  /** What all holders have together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether `excess` should be asked now. */
  get isExceeded(): boolean {
    return this.#bytes > this.#searchAboveBytes;
  }

  /** A holder has so many bytes more, or fewer. */
  add(bytes: number): void {
    this.#bytes += bytes;
    assert(this.#bytes >= 0, () => `${this.#bytes} bytes are held`);
    if (this.#bytes <= this.bytesMax) this.#searchAboveBytes = this.bytesMax;
  }

  /** Whom to close, largest first; each reports what it gives back by itself. */
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
