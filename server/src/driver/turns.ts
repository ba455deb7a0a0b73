/**
 * The rhythm of a member: everything that the event loop brings in is one turn with one clock
 * reading and one end, in which sockets are flushed.
 *
 * Owns the clock readings and the ticks. When the process was stopped for a while, the first turn
 * ticks before it lets anything in, and one that was stopped in its middle before it lets anything
 * out: nobody is answered past a lease that has run out meanwhile. Any error of a turn is reported
 * once and ends everything.
 */
import type { Timers } from '../net/timers.js';

export interface TurnHooks {
  onTick(nowMs: number): void;
  /** All input of the turn is in: propose, forward, flush. */
  onEnd(): void;
  /** A tick came so long after it was due: something has kept the event loop. */
  onLate(ms: number): void;
  onError(error: unknown): void;
}

export class Turns {
  readonly #timers: Timers;
  readonly #tickMs: number;
  readonly #hooks: TurnHooks;
  #nowMs: number;
  #tickedAtMs = Number.NEGATIVE_INFINITY;
  #open = false;
  #stopped = false;
  #stoodStill = false;
  /** Made once: there are tens of thousands of turns a second. */
  readonly #endLater = (): void => this.#end();

  constructor(timers: Timers, tickMs: number, hooks: TurnHooks) {
    this.#timers = timers;
    this.#tickMs = tickMs;
    this.#hooks = hooks;
    this.#nowMs = timers.nowMs();
  }

  /** The time of this turn, monotonic ms. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Why a role that ends now takes the answers of this turn with it; null when it does not. */
  get standstill(): string | null {
    return this.#stoodStill ? 'this member stood still' : null;
  }

  start(): void {
    this.run(() => undefined);
    this.#scheduleTick();
  }

  /** Nothing runs any more. */
  stop(): void {
    this.#stopped = true;
  }

  /** Runs `action` in a turn. */
  run(action: () => void): void {
    if (this.#stopped) return;
    try {
      this.enter();
      action();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** As `run`, of an action that is made once: what comes all the time has no closure. */
  call<A, B>(action: (first: A, second: B) => void, first: A, second: B): void {
    if (this.#stopped) return;
    try {
      this.enter();
      action(first, second);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Begins a turn if none has begun; returns its time. */
  enter(): number {
    if (this.#open) return this.#nowMs;
    this.#open = true;
    this.#nowMs = this.#timers.nowMs();
    if (this.#nowMs - this.#tickedAtMs > 2 * this.#tickMs) this.#tick();
    this.#timers.defer(this.#endLater);
    return this.#nowMs;
  }

  #end(): void {
    if (this.#stopped) return;
    this.#open = false;
    try {
      this.#tickIfLate();
      this.#hooks.onEnd();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#stopped = true;
    this.#hooks.onError(error);
  }

  /** What came in after the standstill was taken in, too, as if it had come when the turn began. */
  #tickIfLate(): void {
    const nowMs = this.#timers.nowMs();
    if (nowMs - this.#nowMs <= 2 * this.#tickMs) return;
    this.#nowMs = nowMs;
    this.#stoodStill = true;
    this.#tick();
    this.#stoodStill = false;
  }

  #tick(): void {
    this.#tickedAtMs = this.#nowMs;
    this.#hooks.onTick(this.#nowMs);
  }

  #scheduleTick(): void {
    const dueMs = this.#timers.nowMs() + this.#tickMs;
    this.#timers.after(this.#tickMs, () => {
      if (this.#stopped) return;
      this.#hooks.onLate(Math.max(0, this.#timers.nowMs() - dueMs));
      this.run(() => {
        if (this.#nowMs > this.#tickedAtMs) this.#tick();
      });
      this.#scheduleTick();
    });
  }
}
