/**
 * What several rounds on two systems say: medians, their ratio, and how far the rounds spread.
 *
 * Pure. The ratio is that of the medians; its spread is the lowest and highest ratio of one round,
 * whose two runs lie closest together in time.
 */
import type { LoadResult } from './load.js';

export interface Run {
  readonly result: LoadResult;
  /** Processor time of all members per operation, microseconds. */
  readonly cpuUsPerOperation: number;
}

export interface Summary {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  readonly longestSilenceMs: number;
  readonly cpuUsPerOperation: number;
  readonly failures: number;
}

export interface Ratio {
  readonly ofMedians: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Medians, but the worst of the worst: `max` and the longest silence are the maxima. */
export function summarize(runs: readonly Run[]): Summary {
  const results = runs.map((run) => run.result);
  return {
    perSecond: median(results.map((result) => result.perSecond)),
    p50: median(results.map((result) => result.latencyMs.p50)),
    p99: median(results.map((result) => result.latencyMs.p99)),
    p999: median(results.map((result) => result.latencyMs.p999)),
    max: Math.max(...results.map((result) => result.latencyMs.max)),
    longestSilenceMs: Math.max(...results.map((result) => result.longestSilenceMs)),
    cpuUsPerOperation: median(runs.map((run) => run.cpuUsPerOperation)),
    failures: results.reduce((sum, result) => sum + failuresOf(result), 0),
  };
}

/** Of operations per second; round by round the runs belong together. */
export function ratioOf(measured: readonly Run[], baseline: readonly Run[]): Ratio {
  const rounds = measured.map(
    (run, round) => run.result.perSecond / (baseline[round]?.result.perSecond ?? Number.NaN),
  );
  return {
    ofMedians: summarize(measured).perSecond / summarize(baseline).perSecond,
    lowest: Math.min(...rounds),
    highest: Math.max(...rounds),
  };
}

export function failuresOf(result: LoadResult): number {
  const errors = Object.values(result.errors).reduce((sum, count) => sum + count, 0);
  return errors + result.lostRequests;
}

/** Of an even number of values the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  if (sorted.length % 2 === 1) return upper;
  return ((sorted[sorted.length / 2 - 1] ?? Number.NaN) + upper) / 2;
}
