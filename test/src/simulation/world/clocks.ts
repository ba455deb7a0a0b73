/**
 * The clocks of a machine and the timers of a process on it.
 *
 * A machine's clocks outlive its processes: both run at its rate, the wall clock also jumps. What a
 * process has scheduled never runs after its death, and not while it stands still: what came due
 * meanwhile runs afterwards, in order.
 */
import type { Timer, Timers } from '../../simulated.js';
import type { Scheduler } from './scheduler.js';

const WALL_START_MS = 1_700_000_000_000;
/** What a turn of a process takes: work that is cut into slices goes on over many. */
const TURN_MS = 0.7;

export class MachineClock {
  readonly #scheduler: Scheduler;
  #rate = 1;
  /** The monotonic clock at `#sinceMs` of the run's. */
  #baseMs: number;
  #sinceMs: number;
  #wallOffsetMs = WALL_START_MS;

  constructor(scheduler: Scheduler, startMs: number) {
    this.#scheduler = scheduler;
    this.#baseMs = startMs;
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
  #stalledUntilMs = 0;

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

  /** Nothing runs before this moment of the run's clock. */
  stallUntil(worldMs: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, worldMs);
  }

  kill(): void {
    this.#isDead = true;
  }

  #after(delayMs: number, action: () => void): Timer {
    let timer: Timer;
    const run = () => {
      if (this.#isDead) return;
      const stallMs = this.#stalledUntilMs - this.#scheduler.nowMs;
      if (stallMs > 0) timer = this.#scheduler.after(stallMs, run);
      else action();
    };
    timer = this.#scheduler.after(delayMs, run);
    return { cancel: () => timer.cancel() };
  }
}
