/**
 * Surroundings for tests: time passes only with `advance`, and random numbers and UUIDs are a fixed
 * sequence. Only for tests.
 */
import type { Surroundings } from '../api/surroundings.js';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

export class FakeSurroundings implements Surroundings {
  #nowMs = 0;
  #timers: Timer[] = [];
  #draws = 0;
  #uuids = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Steps through the range from 0 to 1 so that consecutive numbers differ and none is 0. */
  random(): number {
    this.#draws++;
    return (this.#draws * 0.6180339887498949) % 1;
  }

  uuid(): string {
    this.#uuids++;
    return `00000000-0000-4000-8000-${String(this.#uuids).padStart(12, '0')}`;
  }

  /** The number of timers that have neither fired nor been cancelled. */
  get timerCount(): number {
    return this.#timers.length;
  }

  /** The milliseconds until the next timer fires, or null. */
  get nextTimerMs(): number | null {
    const [first] = this.#due(Number.POSITIVE_INFINITY);
    return first === undefined ? null : first.dueMs - this.#nowMs;
  }

  /** Lets time pass. Timers fire in order, each at its own time, including those set meanwhile. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let [next] = this.#due(endMs); next !== undefined; [next] = this.#due(endMs)) {
      const fired = next;
      this.#timers = this.#timers.filter((timer) => timer !== fired);
      this.#nowMs = Math.max(this.#nowMs, fired.dueMs);
      fired.callback();
    }
    this.#nowMs = endMs;
  }

  /** Lets all messages arrive, then lets time pass, until no timer is left. */
  async settle(turnsMax = 1_000): Promise<void> {
    for (let turn = 0; turn < turnsMax; turn++) {
      for (let index = 0; index < 20; index++) await new Promise(setImmediate);
      const { nextTimerMs } = this;
      if (nextTimerMs === null) return;
      this.advance(nextTimerMs);
    }
    throw new Error(`timers are still being set after ${turnsMax} of them`);
  }

  #due(untilMs: number): Timer[] {
    return this.#timers
      .filter((timer) => timer.dueMs <= untilMs)
      .sort((left, right) => left.dueMs - right.dueMs);
  }
}
