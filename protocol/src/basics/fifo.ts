/**
 * A first-in, first-out queue that also gives access to any place and can take its last item back.
 *
 * It is a ring buffer, so no item moves when the first one leaves. A place is cleared as soon as
 * its item leaves, because an item may hold a megabyte and a queue may never become empty. The
 * buffer grows and shrinks with the length of the queue. The queue has no bound of its own: whoever
 * fills it has one. It is used on hot paths, too.
 */

/** The smallest size of the ring. */
const PLACES_MIN = 8;
/** The size that a queue keeps when it becomes short: 8 KB. */
const PLACES_KEPT = 1024;

export class Fifo<T extends NonNullable<unknown>> {
  /** Empty, or a power of two of places; a place without an item is undefined. */
  #places: (T | undefined)[] = [];
  /** The place of the first item. */
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** For tests: the number of places for which it holds memory. */
  get places(): number {
    return this.#places.length;
  }

  get first(): T | undefined {
    return this.#places[this.#head];
  }

  get last(): T | undefined {
    return this.at(this.#length - 1);
  }

  /** The item at `index`, counted from the first one; undefined if there is none. */
  at(index: number): T | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    return this.#places[(this.#head + index) & (this.#places.length - 1)];
  }

  push(item: T): void {
    if (this.#length === this.#places.length) this.#resize(Math.max(PLACES_MIN, 2 * this.#length));
    this.#places[(this.#head + this.#length) & (this.#places.length - 1)] = item;
    this.#length += 1;
  }

  /** Removes and returns the first item. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#places[this.#head];
    this.#places[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#places.length - 1);
    this.#onTaken();
    return item;
  }

  /** Removes and returns the last item. */
  pop(): T | undefined {
    if (this.#length === 0) return undefined;
    const at = (this.#head + this.#length - 1) & (this.#places.length - 1);
    const item = this.#places[at];
    this.#places[at] = undefined;
    this.#onTaken();
    return item;
  }

  /** Removes and returns all items, in order. */
  takeAll(): T[] {
    const all = this.toArray();
    this.clear();
    return all;
  }

  /** Returns the items in order and keeps them. */
  toArray(): T[] {
    const all: T[] = [];
    for (let index = 0; index < this.#length; index++) {
      const item = this.at(index);
      if (item !== undefined) all.push(item);
    }
    return all;
  }

  clear(): void {
    this.#places = [];
    this.#head = 0;
    this.#length = 0;
  }

  #onTaken(): void {
    this.#length -= 1;
    const places = this.#places.length;
    if (places > PLACES_KEPT && this.#length * 4 < places) this.#resize(places / 2);
  }

  #resize(count: number): void {
    const places: (T | undefined)[] = this.toArray();
    while (places.length < count) places.push(undefined);
    this.#places = places;
    this.#head = 0;
  }
}
