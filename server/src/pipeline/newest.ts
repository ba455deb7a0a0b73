/**
 * Of changes in flight by hash the newest one, which leads to the older ones of the same hash.
 *
 * Changes have numbers that only grow, and whoever asks stops at the first one that has left: so
 * what has left is told by its number alone, and nothing is ever unlinked. Typed arrays, since
 * there is one for every write. Called by DataInFlight and CreatesInFlight.
 */

import { PLACES_FIRST, twice } from './in-flight.js';

export const NONE = -1;
/** Spreads the numbers of znodes over the places. */
const SPREAD = 0x9e3779b1 | 0;

export class Newest {
  /** The number of the one before it that has the same hash; it may have left. */
  #older = new Float64Array(PLACES_FIRST).fill(NONE);
  /** By hash; it may have left. */
  #newest = new Float64Array(PLACES_FIRST).fill(NONE);

  /** Holds the last `places` numbers, twice as many as before. */
  grow(places: number): void {
    this.#older = twice(this.#older, new Float64Array(places));
    this.#newest = twice(this.#newest, new Float64Array(places));
  }

  add(hash: number, number: number): void {
    const mask = this.#newest.length - 1;
    const at = hash & mask;
    this.#older[number & mask] = this.#newest[at] ?? NONE;
    this.#newest[at] = number;
  }

  /** The newest number with that hash, or with another one that shares its place; or NONE. */
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
