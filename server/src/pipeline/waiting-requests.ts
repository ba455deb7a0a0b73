/**
 * The requests that wait for their answer, by their numbers.
 *
 * Numbers only increase, and except for a few the oldest are answered first, so they are in one
 * array: a hash table would be rebuilt every few hundred writes. Each entry is released together
 * with its request. The few that stay while thousands after them are answered (of a client that
 * does not read) move to a table, so the array is also bounded by the number of waiting requests.
 * Requests calls it.
 */
import { assert } from '@rookery/protocol';
import type { QueueEntry } from './commit-queue.js';

/** Finished entries are removed from the front when there are this many. */
const COMPACT_AT = 1024;
/** When there are this many entries for each one that still waits, the oldest move to the table. */
const SPARSE = 8;

export class WaitingRequests {
  /** By number, from `#first` on; null for a request that is finished or was never here. */
  #entries: (QueueEntry | null)[] = [];
  #first = 0;
  /** All entries before it are null. */
  #head = 0;
  /** The number of waiting requests in `#entries`. */
  #count = 0;
  /** The requests from before `#first`. */
  readonly #late = new Map<number, QueueEntry>();

  get size(): number {
    return this.#count + this.#late.size;
  }

  /** The number of entries, including finished ones. */
  get places(): number {
    return this.#entries.length + this.#late.size;
  }

  /** Its number must be higher than all before. */
  add(entry: QueueEntry): void {
    if (this.#count === 0) this.#restart(entry.request);
    const place = entry.request - this.#first;
    assert(place >= this.#entries.length, () => `${entry.request} is the newest request`);
    while (this.#entries.length < place) this.#entries.push(null);
    this.#entries.push(entry);
    this.#count += 1;
    if (this.#entries.length > Math.max(4 * COMPACT_AT, SPARSE * this.#count)) this.#moveOldest();
  }

  get(request: number): QueueEntry | undefined {
    if (request < this.#first) return this.#late.get(request);
    return this.#entries[request - this.#first] ?? undefined;
  }

  delete(request: number): void {
    if (request < this.#first) {
      this.#late.delete(request);
      return;
    }
    const place = request - this.#first;
    if (!this.#entries[place]) return;
    this.#entries[place] = null;
    this.#count -= 1;
    if (place > this.#head) return;
    while (this.#head < this.#entries.length && this.#entries[this.#head] === null) this.#head += 1;
    if (this.#head < COMPACT_AT || this.#head * 2 < this.#entries.length) return;
    this.#cut(this.#head);
  }

  #moveOldest(): void {
    const half = this.#entries.length >> 1;
    for (let place = this.#head; place < half; place++) {
      const entry = this.#entries[place];
      if (!entry) continue;
      this.#late.set(entry.request, entry);
      this.#count -= 1;
    }
    this.#cut(half);
  }

  #cut(places: number): void {
    this.#entries.splice(0, places);
    this.#first += places;
    this.#head = 0;
  }

  #restart(request: number): void {
    this.#entries.length = 0;
    this.#first = request;
    this.#head = 0;
  }
}
