/**
 * The clocks of a machine and the timers of a process on it.
 *
 * A machine's clocks outlive its processes: both run at its rate, and the wall clock also jumps.
 * The monotonic one can stand still for a while, as in a virtual machine that is suspended.
 * What a process has scheduled never runs after its death, nor while it is stalled: what came due
 * meanwhile runs afterwards, in order. The run's clock does not move while a process works; where
 * working is to take time, each reading of the clock by the process does.
 */
import type { Timer, Timers } from '../../simulated.js';
import type { Scheduler } from './scheduler.js';

export const WALL_START_MS = 1_700_000_000_000;
/** The duration of a turn of a process: work that is cut into slices continues over many. */
const TURN_MS = 0.7;
/** By how much what a process reads may be ahead of the clock of its machine. */
const AHEAD_MS_MAX = 5;

export class MachineClock {
  readonly #scheduler: Scheduler;
  #rate = 1;
  /** The monotonic clock at `#sinceMs` of the run's. */
  #baseMs: number;
  #sinceMs: number;
  readonly #startMs: number;
  #wallOffsetMs: number;
  /** For how long the monotonic clock has stood still so far. */
  #stoodMs = 0;
  /** Since when it stands still, by the run's clock; null while it runs. */
  #standsSinceMs: number | null = null;

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
    const untilMs = this.#standsSinceMs ?? this.#scheduler.nowMs;
    return this.#baseMs + (untilMs - this.#sinceMs) * this.#rate;
  }

  get wallMs(): number {
    return this.#wallOffsetMs + this.nowMs;
  }

  /** The sum of its jumps so far. */
  get wallErrorMs(): number {
    return this.#wallOffsetMs + this.#startMs - WALL_START_MS - this.#stoodMs;
  }

  get stoodMs(): number {
    return this.#stoodMs;
  }

  /** The monotonic clock stands still until `goOn`, while the wall clock goes on. */
  standStill(): void {
    this.#standsSinceMs ??= this.#scheduler.nowMs;
  }

  /** Does nothing if the clock runs. */
  goOn(): void {
    if (this.#standsSinceMs === null) return;
    const { nowMs } = this.#scheduler;
    const stoodMs = nowMs - this.#standsSinceMs;
    this.#baseMs = this.nowMs;
    this.#sinceMs = nowMs;
    this.#standsSinceMs = null;
    this.#wallOffsetMs += stoodMs;
    this.#stoodMs += stoodMs;
  }

  setRate(rate: number): void {
    this.#baseMs = this.nowMs;
    this.#sinceMs = this.#standsSinceMs ?? this.#scheduler.nowMs;
    this.#rate = rate;
  }

  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }
}

export class ProcessTimers implements Timers {
  readonly #scheduler: Scheduler;
  readonly #clock: MachineClock;
  /** How much time the process uses between two readings of its clock. */
  readonly #workMs: number;
  #readMs = Number.NEGATIVE_INFINITY;
  #isDead = false;
  #isStalled = false;
  /** What came due while the process was stalled, in order. */
  #held: (() => void)[] = [];

  constructor(scheduler: Scheduler, clock: MachineClock, workMs = 0) {
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#workMs = workMs;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  nowMs(): number {
    const { nowMs } = this.#clock;
    if (this.#workMs === 0) return nowMs;
    const laterMs = Math.min(this.#readMs + this.#workMs, nowMs + AHEAD_MS_MAX);
    this.#readMs = Math.max(nowMs, laterMs);
    return this.#readMs;
  }

  wallMs(): number {
    return Math.floor(this.#clock.wallMs);
  }

  /** While the monotonic clock stands still, no time passes for the timer. */
  after(delayMs: number, action: () => void): Timer {
    const clock = this.#clock;
    const dueMs = clock.nowMs + Math.max(0, delayMs);
    let { stoodMs } = clock;
    let timer: Timer;
    const run = (): void => {
      const hasStood = clock.stoodMs > stoodMs;
      if (!hasStood || clock.nowMs >= dueMs) return action();
      stoodMs = clock.stoodMs;
      timer = this.#after((dueMs - clock.nowMs) / clock.rate, run);
    };
    timer = this.#after(Math.max(0, delayMs) / clock.rate, run);
    return { cancel: () => timer.cancel() };
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
