/**
 * Durations of one kind: recorded and shown in milliseconds, kept in whole microseconds.
 *
 * So a sync of 80 microseconds counts as that and not as 0, in sums, in percentiles and in the
 * buckets of a histogram. Fixed memory; recording is a few additions. Up to 35 minutes each.
 */
import { Summary, type SummaryView } from './summary.js';

const MICROS_PER_MS = 1000;

export class Durations implements SummaryView {
  readonly #micros = new Summary();

  /** What is negative, by clocks that differ, counts as 0. */
  record(ms: number, times = 1): void {
    this.#micros.record(ms * MICROS_PER_MS, times);
  }

  get count(): number {
    return this.#micros.count;
  }
  get sum(): number {
    return this.#micros.sum / MICROS_PER_MS;
  }
  get min(): number {
    return this.#micros.min / MICROS_PER_MS;
  }
  get max(): number {
    return this.#micros.max / MICROS_PER_MS;
  }
  get average(): number {
    return this.#micros.average / MICROS_PER_MS;
  }
  percentile(share: number): number {
    return this.#micros.percentile(share) / MICROS_PER_MS;
  }

  nextWindow(): void {
    this.#micros.nextWindow();
  }

  /** How many were shorter. Exact for a power of two of microseconds, else rounded down. */
  countBelowMs(ms: number): number {
    return this.#micros.countBelow(ms * MICROS_PER_MS);
  }

  reset(): void {
    this.#micros.reset();
  }
}
