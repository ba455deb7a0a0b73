/**
 * The time of a leader's transactions, for one term.
 *
 * It is the leader's wall clock while that belongs to a majority of members' clocks that agree, and
 * the majority's otherwise: a jump of the leader's clock is not followed. Where no majority agrees,
 * or too few clocks are known, it is the clock that is nearest to what the last transaction leads
 * one to expect. It never falls, with one exception: a majority agrees that it has been wrong by
 * more than clocks may differ. Pure; the driver creates one for each term and asks it for each
 * batch of requests.
 */
import type { ClockVerdict } from './member-clocks.js';

export interface TermTimeStart {
  /** Clocks that differ by no more than this agree. */
  readonly toleranceMs: number;
  /** The time of the last transaction before the term; 0 if there is none. */
  readonly lastMs: number;
  /** When that transaction was applied here, by the monotonic clock. */
  readonly lastAtMs: number;
}

/** A step of the time that readers of mtimes should know of. Both are in ms since 1970. */
export interface TimeStep {
  /** What the time would have been without the step. */
  readonly fromWallMs: number;
  readonly toWallMs: number;
}

export class TermTime {
  readonly #start: TermTimeStart;
  #lastMs: number;
  /**
   * The next time is expected at this plus the monotonic clock; null if there was no transaction.
   */
  #expectedBaseMs: number | null;
  /** Whether a time was read in this term, so that a jump ahead is told from time that passed. */
  #hasRead = false;
  #step: TimeStep | null = null;

  constructor(start: TermTimeStart) {
    this.#start = start;
    this.#lastMs = start.lastMs;
    this.#expectedBaseMs = start.lastMs === 0 ? null : start.lastMs - start.lastAtMs;
  }

  /** The time of a transaction that is prepared now, in ms since 1970. */
  read(nowMs: number, wallMs: number, verdict: ClockVerdict): number {
    const { toleranceMs } = this.#start;
    const baseMs = this.#baseOf(wallMs - nowMs, verdict);
    const expectedMs = this.#expectedBaseMs ?? baseMs;
    this.#expectedBaseMs = baseMs;
    // The last transaction before the term may have been decided long before it was applied here:
    // while the ensemble was down, or had no quorum. So a time that is ahead of it need not have
    // jumped, but one that is behind it has.
    const isAhead = this.#hasRead && baseMs > expectedMs + toleranceMs;
    this.#hasRead = true;
    const timeMs = Math.floor(nowMs + baseMs);
    const isBack = timeMs < this.#lastMs - toleranceMs;
    if (timeMs < this.#lastMs && !(isBack && verdict.by !== 'nobody')) {
      return this.#lastMs;
    }
    if (isAhead || isBack || baseMs < expectedMs - toleranceMs) {
      this.#step ??= {
        fromWallMs: isBack ? this.#lastMs : Math.floor(nowMs + expectedMs),
        toWallMs: timeMs,
      };
    }
    this.#lastMs = timeMs;
    return timeMs;
  }

  /** The first step of more than the tolerance since the last call, for the log. */
  takeStep(): TimeStep | null {
    const step = this.#step;
    this.#step = null;
    return step;
  }

  #baseOf(ownBaseMs: number, { by, baseMs, basesMs }: ClockVerdict): number {
    if (by === 'own') return ownBaseMs;
    if (by === 'others') return baseMs;
    const expectedMs = this.#expectedBaseMs;
    if (expectedMs === null) return ownBaseMs;
    const nearest = basesMs.reduce((best, one) =>
      Math.abs(one - expectedMs) < Math.abs(best - expectedMs) ? one : best,
    );
    return nearest;
  }
}
