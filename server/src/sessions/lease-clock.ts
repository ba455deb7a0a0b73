/**
 * A clock for leases. Of the time between two readings it counts at most `stepMaxMs`, so it leaves
 * out the time in which this process was suspended, or busy with one thing.
 *
 * A leader hears no touches meanwhile, and its sessions must not pay for it. ClockKeeper owns the
 * leader's clock, which is read at least at every tick. LocalSessions reads one of its own, at each
 * tick while clients are served.
 */
export class LeaseClock {
  readonly #stepMaxMs: number;
  #lastMs: number | null = null;
  #elapsedMs = 0;

  constructor(stepMaxMs: number) {
    this.#stepMaxMs = stepMaxMs;
  }

  /** Returns the lease time at this reading of a monotonic clock. */
  read(monotonicMs: number): number {
    if (this.#lastMs !== null) {
      const stepMs = Math.max(0, monotonicMs - this.#lastMs);
      this.#elapsedMs += Math.min(stepMs, this.#stepMaxMs);
    }
    this.#lastMs = monotonicMs;
    return this.#elapsedMs;
  }
}
