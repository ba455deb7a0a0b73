/**
 * Of changes in flight by hash the newest one, which leads to the older ones of the same hash.
 *
 * Changes have numbers that only grow, and whoever asks stops at the first one that has left: so
 * what has left is told by its number alone, and nothing is ever unlinked. Typed arrays, since
 * there is one for every write. Called by DataInFlight and CreatesInFlight.
 */

export const NONE = -1;
/** Spreads the numbers of znodes over the places. */
const SPREAD = 0x9e3779b1 | 0;

export class Newest {
  readonly #mask: number;
  /** The number of the one before it that has the same hash; it may have left. */
  readonly #older: Float64Array;
  /** By hash; it may have left. */
  readonly #newest: Float64Array;

  /** Holds the last `places` numbers: a power of two. */
  constructor(places: number) {
    this.#mask = places - 1;
    this.#older = new Float64Array(places).fill(NONE);
    this.#newest = new Float64Array(places).fill(NONE);
  }

  add(hash: number, number: number): void {
    const at = hash & this.#mask;
    this.#older[number & this.#mask] = this.#newest[at] ?? NONE;
    this.#newest[at] = number;
  }

  /** The newest number with that hash, or with another one that shares its place; or NONE. */
  of(hash: number): number {
    return this.#newest[hash & this.#mask] ?? NONE;
  }

  older(number: number): number {
    return this.#older[number & this.#mask] ?? NONE;
  }
}

export function hashOfNode(node: number): number {
  return Math.imul(node, SPREAD) >>> 12;
}
