/**
 * A clock for leases that does not count the time in which this process was stopped.
 *
 * A leader that was suspended heard no touches meanwhile; its sessions must not pay for it. So a
 * step between two readings counts for at most `stepMaxMs`: the driver reads it at every tick.
 */
export class LeaseClock {
  readonly #stepMaxMs: number;
  #lastMs: number | null = null;
  #elapsedMs = 0;

  constructor(stepMaxMs: number) {
    this.#stepMaxMs = stepMaxMs;
  }

  /** The lease time at this reading of a monotonic clock. */
  read(monotonicMs: number): number {
    if (this.#lastMs !== null) {
      const stepMs = Math.max(0, monotonicMs - this.#lastMs);
      this.#elapsedMs += Math.min(stepMs, this.#stepMaxMs);
    }
    this.#lastMs = monotonicMs;
    return this.#elapsedMs;
  }
}
