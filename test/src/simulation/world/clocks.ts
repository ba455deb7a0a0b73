/**
 * The clocks of a machine and the timers of a process on it.
 *
 * A machine's clocks outlive its processes: both run at its rate, and the wall clock also jumps.
 * What a process has scheduled never runs after its death, nor while it is stalled: what came due
 * meanwhile runs afterwards, in order.
 */
import type { Timer, Timers } from '../../simulated.js';
import type { Scheduler } from './scheduler.js';

export const WALL_START_MS = 1_700_000_000_000;
/** The duration of a turn of a process: work that is cut into slices continues over many. */
const TURN_MS = 0.7;

export class MachineClock {
  readonly #scheduler: Scheduler;
  #rate = 1;
  /** The monotonic clock at `#sinceMs` of the run's. */
  #baseMs: number;
  #sinceMs: number;
  readonly #startMs: number;
  #wallOffsetMs: number;

  constructor(scheduler: Scheduler, startMs: number) {
    this.#scheduler = scheduler;
    this.#baseMs = startMs;
    this.#startMs = startMs;
    this.#wallOffsetMs = WALL_START_MS - startMs;
    this.#sinceMs = scheduler.nowMs;
  }

  get rate(): number {
    return this.#rate;
  }

  get nowMs(): number {
    return this.#baseMs + (this.#scheduler.nowMs - this.#sinceMs) * this.#rate;
  }

  get wallMs(): number {
    return this.#wallOffsetMs + this.nowMs;
  }

  /** The sum of its jumps so far. */
  get wallErrorMs(): number {
    return this.#wallOffsetMs + this.#startMs - WALL_START_MS;
  }

  setRate(rate: number): void {
    this.#baseMs = this.nowMs;
    this.#sinceMs = this.#scheduler.nowMs;
    this.#rate = rate;
  }

  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }
}

export class ProcessTimers implements Timers {
  readonly #scheduler: Scheduler;
  readonly #clock: MachineClock;
  #isDead = false;
  #isStalled = false;
  /** What came due while the process was stalled, in order. */
  #held: (() => void)[] = [];

  constructor(scheduler: Scheduler, clock: MachineClock) {
    this.#scheduler = scheduler;
    this.#clock = clock;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  nowMs(): number {
    return this.#clock.nowMs;
  }

  wallMs(): number {
    return Math.floor(this.#clock.wallMs);
  }

  after(delayMs: number, action: () => void): Timer {
    return this.#after(Math.max(0, delayMs) / this.#clock.rate, action);
  }

  /** Other events come between the turns of a process that begins one after the other by itself. */
  defer(action: () => void): void {
    this.#after(TURN_MS, action);
  }

  /** Nothing runs until it is woken. */
  stall(): void {
    this.#isStalled = true;
  }

  /** Returns what came due meanwhile, to be run in this order, each as an action of its own. */
  wake(): readonly (() => void)[] {
    const held = this.#held;
    this.#isStalled = false;
    this.#held = [];
    return held;
  }

  kill(): void {
    this.#isDead = true;
  }

  #after(delayMs: number, action: () => void): Timer {
    let isCancelled = false;
    const run = () => {
      if (this.#isDead || isCancelled) return;
      if (this.#isStalled) this.#held.push(run);
      else action();
    };
    const timer = this.#scheduler.after(delayMs, run);
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }
}
