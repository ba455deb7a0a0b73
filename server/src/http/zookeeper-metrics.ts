/**
 * The figures of a member for Prometheus under the names of ZooKeeper 3.9, without a prefix, so
 * that its dashboards and alerts find them.
 *
 * What `mntr` has, with ZooKeeper's kinds: counters without `_total`, summaries in ms with the
 * quantiles that 3.9 has and the one that 3.10 has. A figure that a member has not got in its role
 * is absent. Nothing has a label by path, session or address.
 */
import { getHeapStatistics } from 'node:v8';
import type { SummaryView } from '../measures/summary.js';
import { type FiguresContext, figuresOf, summariesOf } from '../net/figures.js';
import { PERCENTILE_NAMES } from '../net/four-letter/mntr.js';
import { type Metric, metric, type Sample } from './metric.js';

const QUANTILES = [0.5, 0.9, 0.95, 0.99];
/** The quantiles of summaries that ZooKeeper keeps without percentiles. */
const BASIC_QUANTILES = [0.5];

export function zooKeeperMetrics(context: FiguresContext): Metric[] {
  const figures = figuresOf(context).map(({ kind, name, value }) =>
    metric({ name, help: name, type: kind, values: [{ value, labels: {} }] }),
  );
  const summaries = summariesOf(context).map(([name, summary]) =>
    metric({ name, help: name, type: 'summary', values: summarySamples(name, summary) }),
  );
  return [...figures, ...summaries, ...heapMetrics()];
}

function summarySamples(name: string, summary: SummaryView): Sample[] {
  const quantiles = PERCENTILE_NAMES.includes(name) ? QUANTILES : BASIC_QUANTILES;
  return [
    ...quantiles.map((quantile) => ({
      value: summary.percentile(quantile),
      labels: { quantile: String(quantile) },
    })),
    { metricName: `${name}_sum`, value: summary.sum, labels: {} },
    { metricName: `${name}_count`, value: summary.count, labels: {} },
  ];
}

/** The heap of V8 in place of Java's, which the official alerts ask for. */
function heapMetrics(): Metric[] {
  const { used_heap_size: used, heap_size_limit: max } = getHeapStatistics();
  const sample = (value: number): Sample[] => [{ value, labels: { area: 'heap' } }];
  const [usedName, maxName] = ['jvm_memory_bytes_used', 'jvm_memory_bytes_max'];
  return [
    metric({ name: usedName, help: usedName, type: 'gauge', values: sample(used) }),
    metric({ name: maxName, help: maxName, type: 'gauge', values: sample(max) }),
  ];
}
