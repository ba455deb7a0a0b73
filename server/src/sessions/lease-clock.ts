/**
 * A clock for leases that does not count time in which this process was stopped.
 *
 * A leader that was suspended heard no touches meanwhile, and its sessions must not pay for it. A
 * step between two readings therefore counts for at most `stepMaxMs`. A leader reads its clock at
 * least at every tick. LocalSessions reads one of its own, at each tick while clients are served.
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
