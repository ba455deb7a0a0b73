/**
 * Finds, by hash, the newest change in flight, which leads to the older ones of the same hash.
 *
 * Changes have numbers that only grow, and a search stops at the first one that has left the queue.
 * What has left is thus recognised by its number alone, and nothing is ever unlinked. They are in
 * typed arrays, so that a write makes no object. Called by DataInFlight and CreatesInFlight.
 */

import { CAPACITY_FIRST, doubled } from './in-flight.js';

export const NONE = -1;
/** Spreads the numbers of znodes over the entries. */
const SPREAD = 0x9e3779b1 | 0;

export class NewestByHash {
  /** The number of the change before it that has the same hash; it may have left the queue. */
  #older = new Float64Array(CAPACITY_FIRST).fill(NONE);
  /** By hash; it may have left the queue. */
  #newest = new Float64Array(CAPACITY_FIRST).fill(NONE);

  /** Enlarges it so that it holds the last `capacity` numbers, twice as many as before. */
  grow(capacity: number): void {
    this.#older = doubled(this.#older, new Float64Array(capacity));
    this.#newest = doubled(this.#newest, new Float64Array(capacity));
  }

  add(hash: number, number: number): void {
    const mask = this.#newest.length - 1;
    const at = hash & mask;
    this.#older[number & mask] = this.#newest[at] ?? NONE;
    this.#newest[at] = number;
  }

  /** The newest number with that hash, or with another hash that shares its entry; or NONE. */
  of(hash: number): number {
    return this.#newest[hash & (this.#newest.length - 1)] ?? NONE;
  }

  older(number: number): number {
    return this.#older[number & (this.#older.length - 1)] ?? NONE;
  }
}

export function hashOfNode(node: number): number {
  return Math.imul(node, SPREAD) >>> 12;
}
