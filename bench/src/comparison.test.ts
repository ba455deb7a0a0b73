/** Goal: the summary does not flatter. Method: small hand-made rounds. */
import { describe, expect, it } from 'vitest';
import { median, type Run, ratioOf, summarize } from './comparison.js';

function run(perSecond: number, max = 1, errors: Record<string, number> = {}): Run {
  return {
    cpuUsPerOperation: 10,
    result: {
      operation: 'getData',
      connections: 1,
      window: 1,
      valueBytes: 0,
      seconds: 1,
      operations: perSecond,
      perSecond,
      latencyMs: { p50: 1, p99: 1, p999: 1, max },
      slowestTenthPerSecond: 0,
      longestSilenceMs: max,
      silencesOver50Ms: 0,
      errors,
      lostRequests: 2,
      lostConnections: 1,
      generator: { cpuShare: 0.1, delayMaxMs: 0 },
    },
  };
}

describe('a comparison', () => {
  it('takes the median of the rates, but the worst of the maxima, and every failure', () => {
    const summary = summarize([run(10, 3), run(30, 9, { NoNode: 4 }), run(20, 5)]);
    expect(summary.perSecond).toBe(20);
    expect(summary.max).toBe(9);
    expect(summary.longestSilenceMs).toBe(9);
    expect(summary.failures).toBe(10);
  });

  it('gives the ratio of medians, spread by the rounds as they belong together', () => {
    const ratio = ratioOf([run(10), run(30), run(20)], [run(10), run(10), run(5)]);
    expect(ratio).toEqual({ ofMedians: 2, lowest: 1, highest: 4 });
  });

  it('has as median of an even number the mean of the middle two', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });
});
