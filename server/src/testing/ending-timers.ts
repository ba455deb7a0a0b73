/**
 * Timers of one run of a member, which end with it, as those of a process do.
 *
 * Also reports after each turn of the member that something may have changed: every change of a
 * member happens in a turn, and a turn ends in a deferred action. Used by `seat.ts`.
 */
import { systemTimers, type Timer, type Timers } from '../net/timers.js';

/**
 * The clock that all members of a test ensemble share. A gap of more than `stepMaxMs` between two
 * reads counts as `stepMaxMs`: the process was busy elsewhere then, for all members alike, and none
 * of them may take the others, or their clients in this process, for dead. Every tick reads it.
 */
export class SharedClock {
  readonly #stepMaxMs: number;
  #readAtMs = performance.now();
  #nowMs = this.#readAtMs;

  constructor(stepMaxMs: number) {
    this.#stepMaxMs = stepMaxMs;
  }

  /** Monotonic, with fractions. */
  nowMs(): number {
    const readAtMs = performance.now();
    this.#nowMs += Math.min(readAtMs - this.#readAtMs, this.#stepMaxMs);
    this.#readAtMs = readAtMs;
    return this.#nowMs;
  }
}

export class EndingTimers implements Timers {
  readonly #system = systemTimers();
  readonly #clock: SharedClock;
  readonly #pending = new Set<Timer>();
  readonly #onTurn: () => void;
  #ended = false;

  constructor(clock: SharedClock, onTurn: () => void) {
    this.#clock = clock;
    this.#onTurn = onTurn;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  wallMs(): number {
    return this.#system.wallMs();
  }

  after(delayMs: number, action: () => void): Timer {
    if (this.#ended) return { cancel: () => undefined };
    const timer = this.#system.after(delayMs, () => {
      this.#pending.delete(own);
      action();
    });
    const own: Timer = {
      cancel: () => {
        this.#pending.delete(own);
        timer.cancel();
      },
    };
    this.#pending.add(own);
    return own;
  }

  defer(action: () => void): void {
    this.#system.defer(() => {
      if (this.#ended) return;
      action();
      this.#onTurn();
    });
  }

  /** Cancels everything that is pending. */
  end(): void {
    this.#ended = true;
    for (const timer of [...this.#pending]) timer.cancel();
  }
}
