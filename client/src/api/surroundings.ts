/**
 * What the client takes from its environment: the time, timers and randomness. Tests supply their
 * own. Types only.
 */
export interface Surroundings {
  /**
   * A monotonic time in milliseconds, from any origin. If possible, it includes time in which the
   * machine was suspended.
   */
  nowMs(): number;
  /** Calls back once, after at least `delayMs`. Returns a function that cancels the timer. */
  setTimer(delayMs: number, callback: () => void): () => void;
  /** A random number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  /** A new random UUID in lower case, with dashes. */
  uuid(): string;
}
