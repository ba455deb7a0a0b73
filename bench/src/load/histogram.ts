/**
 * Counts latencies in buckets that grow with the value: exact below 64 us, within 1.6 % above.
 *
 * It takes constant memory and a few instructions for each value, so that recording every operation
 * costs the generator nothing noticeable. Values are microseconds; anything above 71 minutes counts
 * as 71 minutes. Percentiles are the upper end of their bucket, so they never look better than they
 * are. Its plain-data form is sent from the processes that measure to the one that reports, and is
 * added up there.
 */
const SUB_BITS = 6;
const SUB_COUNT = 1 << SUB_BITS;
const BUCKETS = (32 - SUB_BITS + 1) * SUB_COUNT;
const VALUE_MAX_US = 0xffff_ffff;

export interface HistogramData {
  /** Pairs of bucket and count, for the buckets that are not empty. */
  readonly counts: readonly (readonly [number, number])[];
  readonly maxUs: number;
}

export class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;
  #maxUs = 0;

  static of(parts: readonly HistogramData[]): Histogram {
    const histogram = new Histogram();
    for (const part of parts) histogram.#addAll(part);
    return histogram;
  }

  get count(): number {
    return this.#count;
  }

  get maxUs(): number {
    return this.#maxUs;
  }

  add(valueUs: number): void {
    const value = Math.min(Math.max(Math.ceil(valueUs), 0), VALUE_MAX_US) >>> 0;
    const index = bucketOf(value);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count++;
    if (value > this.#maxUs) this.#maxUs = value;
  }

  /** The value that `percent` of all values do not exceed; 0 if there are none. */
  percentileUs(percent: number): number {
    const wanted = Math.ceil((percent / 100) * this.#count);
    let seen = 0;
    for (let index = 0; index < BUCKETS; index++) {
      seen += this.#counts[index] ?? 0;
      if (seen >= wanted && seen > 0) return Math.min(upperEndOf(index), this.#maxUs);
    }
    return this.#maxUs;
  }

  toData(): HistogramData {
    const counts: [number, number][] = [];
    for (const [index, count] of this.#counts.entries()) if (count > 0) counts.push([index, count]);
    return { counts, maxUs: this.#maxUs };
  }

  #addAll({ counts, maxUs }: HistogramData): void {
    for (const [index, count] of counts) {
      this.#counts[index] = (this.#counts[index] ?? 0) + count;
      this.#count += count;
    }
    if (maxUs > this.#maxUs) this.#maxUs = maxUs;
  }
}

function bucketOf(value: number): number {
  if (value < SUB_COUNT) return value;
  const shift = 31 - Math.clz32(value) - SUB_BITS;
  return shift * SUB_COUNT + (value >>> shift);
}

function upperEndOf(index: number): number {
  if (index < 2 * SUB_COUNT) return index;
  const shift = Math.floor(index / SUB_COUNT) - 1;
  return (index - shift * SUB_COUNT + 1) * 2 ** shift - 1;
}
