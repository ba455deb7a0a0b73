/**
 * The requests that wait for their answer, by their numbers.
 *
 * Numbers only grow, and the oldest are answered first but for a few, so they lie in one array: a
 * hash table would be made anew every few hundred writes. Each place is let go of when its request
 * is; the array begins with the oldest that waits, or with places that are cut off soon. Called by
 * Requests.
 */
import { assert } from '@rookery/protocol';
import type { QueueEntry } from './commit-queue.js';

/** Places of the done are cut off the front from this many on. */
const COMPACT_AT = 1024;

export class WaitingRequests {
  /** By number, from `#first` on; null for what is done or was never here. */
  #entries: (QueueEntry | null)[] = [];
  #first = 0;
  /** All places before it are null. */
  #head = 0;
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** Its number is above those of all before. */
  add(entry: QueueEntry): void {
    if (this.#count === 0) this.#restart(entry.request);
    const place = entry.request - this.#first;
    assert(place >= this.#entries.length, () => `${entry.request} is the newest request`);
    while (this.#entries.length < place) this.#entries.push(null);
    this.#entries.push(entry);
    this.#count += 1;
  }

  get(request: number): QueueEntry | undefined {
    return this.#entries[request - this.#first] ?? undefined;
  }

  delete(request: number): void {
    const place = request - this.#first;
    if (!this.#entries[place]) return;
    this.#entries[place] = null;
    this.#count -= 1;
    if (place > this.#head) return;
    while (this.#head < this.#entries.length && this.#entries[this.#head] === null) this.#head += 1;
    if (this.#head < COMPACT_AT || this.#head * 2 < this.#entries.length) return;
    this.#entries.splice(0, this.#head);
    this.#first += this.#head;
    this.#head = 0;
  }

  #restart(request: number): void {
    this.#entries.length = 0;
    this.#first = request;
    this.#head = 0;
  }
}
