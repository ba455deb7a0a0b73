/**
 * Decides when a member that ended is started again, and when that is given up.
 *
 * The pause doubles with each end within a minute, so that a member that ends at once, because of
 * its disk or a bug, does not keep the machine busy. After five restarts within a minute the next
 * end is the last one. Pure: it is told the time.
 */
export const RESTARTS_MAX = 5;
export const WITHIN_MS = 60_000;
const FIRST_PAUSE_MS = 500;

export class Restarts {
  /** When the restarts of the last minute were decided. */
  #recent: readonly number[] = [];

  /** A member has ended: how long to wait before it is started again, ms; null to give it up. */
  next(nowMs: number): number | null {
    this.#recent = this.#recent.filter((atMs) => nowMs - atMs < WITHIN_MS);
    const { length } = this.#recent;
    if (length >= RESTARTS_MAX) return null;
    this.#recent = [...this.#recent, nowMs];
    return FIRST_PAUSE_MS * 2 ** length;
  }
}
