/**
 * Computes count, sum, minimum, maximum and percentiles of a stream of durations or sizes, in fixed
 * memory; `Durations` has buckets that can be aggregated over members.
 *
 * Percentiles come from buckets that are exact below 16 and an eighth wide above. They cover the
 * current window and the one before it, so that a bad hour is visible while it lasts and not for
 * the rest of the process's life. Everything else counts from the beginning. Recording is a few
 * additions: it may be called for every request.
 */

const EXACT_MAX = 16;
const BUCKETS_PER_DOUBLING = 8;
/** What is not below it is in the last bucket. */
const VALUE_END = 2 ** 31;
/** The doublings from 2^4 to 2^31, and one bucket for all above. */
const BUCKETS = EXACT_MAX + 27 * BUCKETS_PER_DOUBLING + 1;

/**
 * What is shown of a summary; each of these is 0 before the first record, and `percentile` also
 * when nothing was recorded lately.
 */
export interface SummaryView {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly average: number;
  /** What a `share` (0 to 1) of the recent records does not exceed, rounded down to its bucket. */
  percentile(share: number): number;
  /** Begins a window: percentiles forget what was recorded before the window that ends now. */
  nextWindow(): void;
}

export class Summary implements SummaryView {
  count = 0;
  sum = 0;
  min = 0;
  max = 0;
  /** These are doubles, because reads would overflow 32 bits within a week. */
  readonly #buckets = new Float64Array(BUCKETS);
  /** The buckets when the window before the current one began, and when the current one began. */
  readonly #atFormer = new Float64Array(BUCKETS);
  readonly #atCurrent = new Float64Array(BUCKETS);
  /** The counts at the same times. */
  #countAtFormer = 0;
  #countAtCurrent = 0;

  get average(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  /**
   * Whole numbers, as ZooKeeper keeps them: what comes with a fraction loses it. `times` records
   * are made at once.
   */
  record(value: number, times = 1): void {
    const whole = Math.max(0, Math.floor(value));
    if (this.count === 0 || whole < this.min) this.min = whole;
    if (whole > this.max) this.max = whole;
    this.count += times;
    this.sum += whole * times;
    const bucket = bucketOf(whole);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + times;
  }

  percentile(share: number): number {
    let left = Math.ceil((this.count - this.#countAtFormer) * share);
    if (left === 0) return 0;
    for (const [bucket, count] of this.#buckets.entries()) {
      left -= count - (this.#atFormer[bucket] ?? 0);
      if (left <= 0) return Math.max(this.min, leastOf(bucket));
    }
    return this.max;
  }

  nextWindow(): void {
    this.#atFormer.set(this.#atCurrent);
    this.#countAtFormer = this.#countAtCurrent;
    this.#atCurrent.set(this.#buckets);
    this.#countAtCurrent = this.count;
  }

  /** How many are below `value`, rounded down to its bucket. */
  countBelow(value: number): number {
    const end = bucketOf(Math.max(0, Math.floor(value)));
    let count = 0;
    for (let bucket = 0; bucket < end; bucket++) count += this.#buckets[bucket] ?? 0;
    return count;
  }

  reset(): void {
    this.count = 0;
    this.sum = 0;
    this.min = 0;
    this.max = 0;
    this.#buckets.fill(0);
    // Nothing is recorded, so both windows are empty after this.
    this.nextWindow();
    this.nextWindow();
  }
}

/** Integers only, as this runs for every request. */
function bucketOf(value: number): number {
  if (value < EXACT_MAX) return value;
  if (value >= VALUE_END) return BUCKETS - 1;
  const exponent = 31 - Math.clz32(value);
  // The three bits behind the highest one.
  const eighth = (value >>> (exponent - 3)) & (BUCKETS_PER_DOUBLING - 1);
  return EXACT_MAX + (exponent - 4) * BUCKETS_PER_DOUBLING + eighth;
}

function leastOf(bucket: number): number {
  if (bucket < EXACT_MAX) return bucket;
  const above = bucket - EXACT_MAX;
  const doubling = Math.floor(above / BUCKETS_PER_DOUBLING);
  const eighth = above % BUCKETS_PER_DOUBLING;
  return 2 ** (doubling + 4) * (1 + eighth / BUCKETS_PER_DOUBLING);
}

const MICROS_PER_MS = 1000;

/**
 * Durations of one kind: recorded and shown in milliseconds, kept in whole microseconds.
 *
 * So a sync of 80 microseconds counts as that and not as 0, in sums, in percentiles and in the
 * buckets of a histogram. Fixed memory; recording is a few additions. Up to 35 minutes each.
 */
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
