/**
 * What the client takes from the world: time, timers and randomness. A test gives its own. Types
 * only.
 */
export interface Surroundings {
  /** Monotonic, milliseconds, from any origin; counts the time that the machine slept if it can. */
  nowMs(): number;
  /** Calls back once, after at least `delayMs`; gives what cancels it. */
  setTimer(delayMs: number, callback: () => void): () => void;
  /** From 0 (inclusive) to 1. */
  random(): number;
  /** A fresh random UUID, lower case with dashes. */
  uuid(): string;
}
