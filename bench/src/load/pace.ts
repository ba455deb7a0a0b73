/**
 * When the requests of one connection are due, for a given rate instead of "as fast as it can".
 *
 * A request that could not be sent in time keeps the time at which it was due, and its latency
 * counts from there: a stall of the server shows in every request that it delayed. Pure.
 */
export class Pace {
  readonly #intervalMs: number;
  #nextMs: number;

  /** The first request is due at `firstMs`, and one more after each interval. */
  constructor(firstMs: number, intervalMs: number) {
    this.#nextMs = firstMs;
    this.#intervalMs = intervalMs;
  }

  /**
   * Returns when the next request was due, if it is due by now, and advances to the one after it.
   */
  take(nowMs: number): number | null {
    if (this.#nextMs > nowMs) return null;
    const dueMs = this.#nextMs;
    this.#nextMs += this.#intervalMs;
    return dueMs;
  }
}
