/**
 * A queue: what came first goes first. With a look at any place, and an end that can be taken back.
 *
 * A ring, so that nothing moves when the first one goes. Lets go of what has left at once: what
 * waits may hold a megabyte, and a queue that is never empty must keep nothing of the past. Its
 * places follow its length, down to a few. Bounds nothing else: whoever fills it does. Used by
 * whatever waits in order, on hot paths too.
 */

/** Places from the first item on. */
const PLACES_MIN = 8;
/** Kept by a queue that has become short: 8 KB. */
const PLACES_KEPT = 1024;

export class Fifo<T extends NonNullable<unknown>> {
  /** None, or a power of two of them; undefined where nothing waits. */
  #places: (T | undefined)[] = [];
  /** The place of the first one. */
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** For tests: what it holds memory for. */
  get places(): number {
    return this.#places.length;
  }

  get first(): T | undefined {
    return this.#places[this.#head];
  }

  get last(): T | undefined {
    return this.at(this.#length - 1);
  }

  /** The one that `index` others go before; undefined where none is. */
  at(index: number): T | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    return this.#places[(this.#head + index) & (this.#places.length - 1)];
  }

  push(item: T): void {
    if (this.#length === this.#places.length) this.#resize(Math.max(PLACES_MIN, 2 * this.#length));
    this.#places[(this.#head + this.#length) & (this.#places.length - 1)] = item;
    this.#length += 1;
  }

  /** Takes the first one. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#places[this.#head];
    this.#places[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#places.length - 1);
    this.#onTaken();
    return item;
  }

  /** Takes the last one back. */
  pop(): T | undefined {
    if (this.#length === 0) return undefined;
    const at = (this.#head + this.#length - 1) & (this.#places.length - 1);
    const item = this.#places[at];
    this.#places[at] = undefined;
    this.#onTaken();
    return item;
  }

  /** Takes all of them, in order. */
  takeAll(): T[] {
    const all = this.toArray();
    this.clear();
    return all;
  }

  /** Those that wait, in order. */
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
