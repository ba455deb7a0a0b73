/**
 * Decides when a member that ended is started again, and when restarts are given up.
 *
 * The pause doubles with each end within a minute, so that a member that ends at once, because of
 * its disk or a bug, does not keep the machine busy. After five restarts within a minute the next
 * end is the last one. Pure: it is told the time.
 */
export const RESTARTS_MAX = 5;
export const WITHIN_MS = 60_000;
const FIRST_PAUSE_MS = 500;

export class Restarts {
  /** The times of the restarts that were decided in the last minute. */
  #recent: readonly number[] = [];

  /**
   * Called when a member has ended. Returns how long to wait before it is started again, in ms;
   * null to give up.
   */
  next(nowMs: number): number | null {
    this.#recent = this.#recent.filter((atMs) => nowMs - atMs < WITHIN_MS);
    const { length } = this.#recent;
    if (length >= RESTARTS_MAX) return null;
    this.#recent = [...this.#recent, nowMs];
    return FIRST_PAUSE_MS * 2 ** length;
  }
}
