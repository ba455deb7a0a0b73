/**
 * Timers that move only when told to: for tests, and for the simulator to build on.
 *
 * Actions run in the order of their due time, and of their calls where that is equal, so a run is
 * the same each time. Between two actions all promises that can settle do.
 */
import type { Timer, Timers } from '../../net/timers.js';

interface Scheduled {
  readonly dueMs: number;
  readonly action: () => void;
}

export class ManualTimers implements Timers {
  #nowMs = 0;
  #wallStartMs: number;
  /** By due time, the earliest first. */
  readonly #queue: Scheduled[] = [];

  constructor(wallStartMs = 1_700_000_000_000) {
    this.#wallStartMs = wallStartMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return Math.floor(this.#wallStartMs + this.#nowMs);
  }

  after(delayMs: number, action: () => void): Timer {
    const scheduled = { dueMs: this.#nowMs + Math.max(0, delayMs), action };
    this.#queue.splice(this.#placeFor(scheduled.dueMs), 0, scheduled);
    return {
      cancel: () => {
        const index = this.#queue.indexOf(scheduled);
        if (index !== -1) this.#queue.splice(index, 1);
      },
    };
  }

  defer(action: () => void): void {
    this.after(0, action);
  }

  /** Runs everything due within the next `durationMs`, what that schedules included. */
  async advance(durationMs: number): Promise<void> {
    const untilMs = this.#nowMs + durationMs;
    await settlePromises();
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (next.dueMs > untilMs) break;
      this.#queue.shift();
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.action();
      await settlePromises();
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  /** The process is suspended for so long: what became due meanwhile runs after it. */
  async suspend(durationMs: number): Promise<void> {
    this.suspendNow(durationMs);
    await this.advance(0);
  }

  /** The process is suspended for so long in the middle of whatever calls this. */
  suspendNow(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  /** The wall clock moves against the monotonic one. */
  jumpWall(byMs: number): void {
    this.#wallStartMs += byMs;
  }

  #placeFor(dueMs: number): number {
    let low = 0;
    let high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.#queue[middle];
      if (there !== undefined && there.dueMs <= dueMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The microtask queue is empty when an immediate runs. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
