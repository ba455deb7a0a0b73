/**
 * The queries of the alerts and of the dashboard in `ops/`, and the names of metrics in a query.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../../harness/product.js';

/** Words of PromQL that are not names of metrics. */
const WORDS = new Set([
  ...['and', 'or', 'unless', 'on', 'ignoring', 'group_left', 'group_right', 'by', 'without'],
  ...[
    'sum',
    'count',
    'max',
    'min',
    'avg',
    'rate',
    'increase',
    'max_over_time',
    'floor',
    'histogram_quantile',
    'group',
    'changes',
    'last_over_time',
    'absent_over_time',
    'time',
  ],
  ...['label_values', 'bool', 'offset'],
]);
/** Metrics that Prometheus itself creates for each target. */
const OF_PROMETHEUS = new Set(['up']);

/** The names in the example alert rules of ZooKeeper's monitoring guide; all members have these. */
export const OFFICIAL = [
  ...['znode_count', 'num_alive_connections', 'approximate_data_size', 'watch_count'],
  ...['open_file_descriptor_count', 'avg_latency', 'election_time_count', 'fsynctime_sum'],
  ...['snapshottime_sum', 'jvm_memory_bytes_used{area="heap"}'],
  'jvm_memory_bytes_max{area="heap"}',
];

export function alertQueries(): string[] {
  const text = readFileSync(join(REPOSITORY, 'ops/prometheus/rules.yml'), 'utf8');
  return [...text.matchAll(/^ +expr: (.+)$/gm)].map(([, query = '']) => query);
}

export function dashboardQueries(): string[] {
  const text = readFileSync(join(REPOSITORY, 'ops/grafana/rookery.json'), 'utf8');
  const queries: string[] = [];
  JSON.parse(text, (key: string, value: unknown) => {
    if ((key === 'expr' || key === 'query') && typeof value === 'string') queries.push(value);
    return value;
  });
  return queries.filter((query) => query !== 'prometheus');
}

/** Removes labels, ranges, and what is in parentheses after `by` and `on`. */
export function namesIn(query: string): string[] {
  const bare = query
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|on|without|ignoring|group_left|group_right) *\([^)]*\)/g, ' ')
    .replace(/(label_values\([^,]*),[^)]*\)/g, '$1)')
    .replace(/\b\d[\w.]*/g, ' ');
  const words = bare.match(/[a-zA-Z_:][\w:]*/g) ?? [];
  return [...new Set(words)].filter((word) => !WORDS.has(word) && !OF_PROMETHEUS.has(word));
}
