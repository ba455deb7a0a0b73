/**
 * Summarizes several rounds: medians, their spread, and the ratio of two systems round by round.
 *
 * Pure. The ratio is that of the medians; its spread is the lowest and highest ratio of one round,
 * whose two runs are closest together in time. A ratio above 1 always favours the measured system.
 */
export interface Summary {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  readonly runs: number;
}

export interface Ratio {
  readonly ofMedians: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Summarizes the rounds that have a value; null if there are none. */
export function summarize(rounds: readonly number[]): Summary | null {
  const values = rounds.filter(Number.isFinite);
  if (values.length === 0) return null;
  return {
    median: median(values),
    lowest: Math.min(...values),
    highest: Math.max(...values),
    runs: values.length,
  };
}

/**
 * How much better the measured system is; null if a side has no value. The index is the round; the
 * spread is that of the rounds in which both have a value.
 */
export function ratioOf(
  measured: readonly number[],
  baseline: readonly number[],
  better: 'higher' | 'lower',
): Ratio | null {
  const own = summarize(measured);
  const other = summarize(baseline);
  if (own === null || other === null) return null;
  const ratio = (one: number, two: number) => (better === 'higher' ? one / two : two / one);
  const rounds = measured
    .map((value, round) => ratio(value, baseline[round] ?? Number.NaN))
    .filter(Number.isFinite);
  const ofMedians = ratio(own.median, other.median);
  return {
    ofMedians,
    lowest: rounds.length === 0 ? ofMedians : Math.min(...rounds),
    highest: rounds.length === 0 ? ofMedians : Math.max(...rounds),
  };
}

/** For an even number of values, the mean of the two in the middle; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  if (sorted.length % 2 === 1) return upper;
  return ((sorted[sorted.length / 2 - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Fits a line by least squares and returns how much `values` grow with each step; 0 for fewer than
 * two.
 */
export function slopeOf(values: readonly number[]): number {
  const count = values.length;
  if (count < 2) return 0;
  const middle = (count - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  let above = 0;
  let below = 0;
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  }
  return above / below;
}

/** Adds up groups of `size` neighbours; an incomplete group at the end is dropped. */
export function inGroupsOf(size: number, values: readonly number[]): readonly number[] {
  return Array.from({ length: Math.floor(values.length / size) }, (_, group) =>
    values.slice(group * size, (group + 1) * size).reduce((sum, value) => sum + value, 0),
  );
}
