/**
 * A histogram in seconds of durations that a member keeps, which can be aggregated over members.
 *
 * Its bounds are powers of two of a microsecond, where the buckets of `Durations` end, so that each
 * count is exact: from 64 microseconds to 67 seconds.
 */
import type { Durations } from '../measures/durations.js';
import { type Metric, metric, type Sample } from './metric.js';

const FIRST_EXPONENT = 6;
const LAST_EXPONENT = 26;
const MS_PER_SECOND = 1000;

export type Labelled = readonly [labels: Sample['labels'], durations: Durations];

export function histogram(name: string, help: string, all: readonly Labelled[]): Metric {
  const values = all.flatMap(([labels, durations]) => samplesOf(name, labels, durations));
  return metric({ name, help, type: 'histogram', values });
}

function samplesOf(name: string, labels: Sample['labels'], durations: Durations): Sample[] {
  const samples: Sample[] = [];
  const metricName = `${name}_bucket`;
  for (let exponent = FIRST_EXPONENT; exponent <= LAST_EXPONENT; exponent++) {
    const ms = 2 ** exponent / 1000;
    const le = String(ms / MS_PER_SECOND);
    samples.push({ metricName, labels: { ...labels, le }, value: durations.countBelowMs(ms) });
  }
  const { count, sum } = durations;
  samples.push({ metricName, labels: { ...labels, le: '+Inf' }, value: count });
  samples.push({ metricName: `${name}_sum`, labels, value: sum / MS_PER_SECOND });
  samples.push({ metricName: `${name}_count`, labels, value: count });
  return samples;
}
