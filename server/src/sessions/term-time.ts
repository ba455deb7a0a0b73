/**
 * The time of a leader's transactions, for one term.
 *
 * It is the own wall clock while that is one of a majority of members' clocks that agree, and
 * theirs while it is not: a jump of the leader's clock is not followed. Where no majority agree, or
 * too few have been heard, it is the clock that is nearest to what the last transaction leads one
 * to expect. It never falls, but for one case: a majority agree that it has been wrong, by more
 * than clocks may differ. Pure; created by the driver with each term, asked for each batch of
 * requests.
 */
import type { ClockVerdict } from './member-clocks.js';

export interface TermTimeStart {
  /** Clocks that differ by no more agree. */
  readonly toleranceMs: number;
  /** Of the last transaction before the term; 0 for none. */
  readonly lastMs: number;
  /** When that was applied here, by the monotonic clock. */
  readonly lastAtMs: number;
  /** Whether all members, and all logs that they may read, understand that time may fall. */
  readonly mayFall: () => boolean;
}

/** A step of the time that whoever reads mtimes should know of. */
export interface TimeStep {
  readonly fromMs: number;
  readonly toMs: number;
}

export class TermTime {
  readonly #start: TermTimeStart;
  #lastMs: number;
  /** What the next one is expected at: this and the monotonic clock; null without any before. */
  #expectedBaseMs: number | null;
  #step: TimeStep | null = null;

  constructor(start: TermTimeStart) {
    this.#start = start;
    this.#lastMs = start.lastMs;
    this.#expectedBaseMs = start.lastMs === 0 ? null : start.lastMs - start.lastAtMs;
  }

  /** The time of a transaction that is prepared now, ms since 1970. */
  read(nowMs: number, wallMs: number, verdict: ClockVerdict): number {
    const { toleranceMs, mayFall } = this.#start;
    const baseMs = this.#baseOf(wallMs - nowMs, verdict);
    const expectedMs = this.#expectedBaseMs ?? baseMs;
    this.#expectedBaseMs = baseMs;
    const timeMs = Math.floor(nowMs + baseMs);
    const isBack = timeMs < this.#lastMs - toleranceMs;
    if (timeMs < this.#lastMs && !(isBack && mayFall() && verdict.by !== 'nobody')) {
      return this.#lastMs;
    }
    if (Math.abs(baseMs - expectedMs) > toleranceMs || isBack) {
      this.#step ??= {
        fromMs: isBack ? this.#lastMs : Math.floor(nowMs + expectedMs),
        toMs: timeMs,
      };
    }
    this.#lastMs = timeMs;
    return timeMs;
  }

  /** Since the last call, the first step of more than the tolerance, for the log. */
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
