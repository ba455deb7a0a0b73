/**
 * Shares a bounded number of places fairly between the addresses of strangers.
 *
 * When all places are taken, a newcomer gets that of the oldest one of the address that has most,
 * which may be its own. So one address cannot keep others out, and a client that only holds places
 * loses them to later ones. Every operation takes constant time, because strangers cause it. Used
 * for TLS handshakes, for streams without a session, and for answers to four-letter words that
 * their clients do not take.
 */

export interface FairSlot {
  /** The address that it counts for: see address-group.ts. */
  readonly group: string;
}

export class FairSlots<Slot extends FairSlot> {
  readonly #slotsMax: number;
  /** The slots of each address, the oldest first. */
  readonly #slots = new Map<string, Set<Slot>>();
  /** The addresses by the number of places that each of them has. */
  readonly #byCount = new Map<number, Set<string>>();
  #largest = 0;
  #size = 0;

  /** `slotsMax` is at least 1. */
  constructor(slotsMax: number) {
    this.#slotsMax = slotsMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the one that has lost its place, or null. */
  add(slot: Slot): Slot | null {
    const own = this.#slots.get(slot.group) ?? new Set<Slot>();
    this.#slots.set(slot.group, own.add(slot));
    this.#size += 1;
    this.#move(slot.group, own.size - 1, own.size);
    return this.#size <= this.#slotsMax ? null : this.evict();
  }

  /** Takes the place of the oldest one of the address that has most; null if all are free. */
  evict(): Slot | null {
    const oldest = this.#oldestOfLargest();
    if (oldest !== null) this.delete(oldest);
    return oldest;
  }

  /** Returns false for one that has no place. */
  delete(slot: Slot): boolean {
    const own = this.#slots.get(slot.group);
    if (own?.delete(slot) !== true) return false;
    this.#size -= 1;
    if (own.size === 0) this.#slots.delete(slot.group);
    this.#move(slot.group, own.size + 1, own.size);
    return true;
  }

  #oldestOfLargest(): Slot | null {
    for (const group of this.#byCount.get(this.#largest) ?? []) {
      for (const slot of this.#slots.get(group) ?? []) return slot;
    }
    return null;
  }

  #move(group: string, from: number, to: number): void {
    const before = this.#byCount.get(from);
    before?.delete(group);
    if (before?.size === 0) this.#byCount.delete(from);
    if (to > 0) this.#byCount.set(to, (this.#byCount.get(to) ?? new Set<string>()).add(group));
    // An address loses one place at a time, so some address has the next smaller number.
    if (to > this.#largest) this.#largest = to;
    else if (from === this.#largest && !this.#byCount.has(from)) this.#largest = to;
  }
}
