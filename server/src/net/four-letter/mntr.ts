/**
 * `mntr`: the member's figures, one `zk_<name>\t<value>` per line.
 *
 * Integers are plain, averages have decimals. Names and order are ZooKeeper's; `zk_followers` is
 * the old name of `zk_synced_followers`, which Exhibitor still reads. Figures that only Rookery has
 * are between ZooKeeper's single values and the summaries.
 */
import type { SummaryView } from '../../measures/summary.js';
import { DECIMAL_NAMES, type FiguresContext, figuresOf, summariesOf } from '../figures.js';
import type { MemberView } from '../member-view.js';
import { formatDecimal } from './format.js';

type Line = readonly [name: string, value: number | string];

const PERCENTILES = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
  ['p999', 0.999],
] as const;

export function monitorReply(context: FiguresContext): string {
  return monitorLines(context)
    .map(([name, value]) => `zk_${name}\t${value}\n`)
    .join('');
}

/** Returns the lines with names that lack the prefix `zk_`. */
export function monitorLines(context: FiguresContext): readonly Line[] {
  return [...head(context.view), ...values(context), ...summaries(context)];
}

function head(view: MemberView): Line[] {
  const lines: Line[] = [
    ['version', view.version],
    ['server_state', view.mode],
  ];
  if (view.quorum !== null && view.mode !== 'read-only') {
    lines.push(['peer_state', view.quorum.peerState]);
  }
  return lines;
}

function values(context: FiguresContext): Line[] {
  const known = new Map<string, number>();
  for (const { name, value } of figuresOf(context)) known.set(name, value);
  const first = known.has('quorum_size') ? ['quorum_size'] : [];
  const named = VALUE_NAMES.filter((name) => known.has(name));
  const own = [...known.keys()].filter((name) => ![...first, ...named].includes(name));
  return [...first, ...named, ...own].map((name): Line => {
    const value = known.get(name) ?? 0;
    return [name, DECIMAL_NAMES.has(name) ? formatDecimal(value) : Math.floor(value)];
  });
}

function summaries(context: FiguresContext): Line[] {
  const known = new Map(summariesOf(context));
  const all = [...SUMMARY_NAMES, ...PERCENTILE_NAMES];
  return all.flatMap((name) => {
    const summary = known.get(name);
    return summary === undefined ? [] : linesOf(name, summary, PERCENTILE_NAMES.includes(name));
  });
}

function linesOf(name: string, summary: SummaryView, hasPercentiles: boolean): Line[] {
  const lines: Line[] = [
    [`avg_${name}`, formatDecimal(summary.average)],
    [`min_${name}`, Math.floor(summary.min)],
    [`max_${name}`, Math.floor(summary.max)],
    [`cnt_${name}`, summary.count],
    [`sum_${name}`, Math.floor(summary.sum)],
  ];
  if (!hasPercentiles) return lines;
  const percentiles = PERCENTILES.map(([prefix, share]): Line => {
    return [`${prefix}_${name}`, Math.floor(summary.percentile(share))];
  });
  return [...lines, ...percentiles];
}

/**
 * The names of `mntr` in their order, as in ZooKeeper 3.8.0.
 *
 * They contain only what is measured: a figure that could never be anything but 0 would mislead an
 * alert. Left out are therefore ZooKeeper's own processors, the queues between them, its caches of
 * answers and its cleaner of watches, Netty, the authentication of members, and what it counts by
 * top-level znode or by learner. There are no observers, so their number 0 is true. A figure whose
 * name is not listed here, such as those of TLS, is printed after the listed ones.
 */
const VALUE_NAMES: readonly string[] = [
  'ephemerals_count',
  'num_alive_connections',
  'avg_latency',
  'min_proposal_size',
  'outstanding_requests',
  'znode_count',
  'global_sessions',
  'last_client_response_size',
  'packets_sent',
  'packets_received',
  'max_proposal_size',
  'max_client_response_size',
  'synced_followers',
  'watch_count',
  'synced_non_voting_followers',
  'synced_observers',
  'auth_failed_count',
  'min_latency',
  'max_file_descriptor_count',
  'approximate_data_size',
  'open_file_descriptor_count',
  'last_proposal_size',
  'pending_syncs',
  'leader_uptime',
  'local_sessions',
  'uptime',
  'max_latency',
  'learners',
  'min_client_response_size',
  'proposal_count',
  'watch_bytes',
  'large_requests_rejected',
  'connection_rejected',
  'sessionless_connections_expired',
  'looking_count',
  'connection_drop_count',
  'learner_proposal_received_count',
  'digest_mismatches_count',
  'bytes_received_count',
  'request_throttle_wait_count',
  'learner_commit_received_count',
  'connection_request_count',
  'response_bytes',
  'diff_count',
  'connection_revalidate_count',
  'snap_count',
  'commit_count',
  'stale_sessions_expired',
];

/** Each has average, minimum, maximum, count and sum. */
export const SUMMARY_NAMES: readonly string[] = [
  'startup_txns_loaded',
  'dbinittime',
  'fsynctime',
  'snapshottime',
  'election_time',
  'unavailable_time',
  'leader_unavailable_time',
  'follower_sync_time',
  'inflight_snap_count',
  'connection_token_deficit',
  'node_created_watch_count',
  'node_deleted_watch_count',
  'node_changed_watch_count',
  'node_children_watch_count',
];

/** Each has what SUMMARY_NAMES have, and percentiles. */
export const PERCENTILE_NAMES: readonly string[] = [
  'readlatency',
  'updatelatency',
  'propagation_latency',
  'proposal_latency',
  'quorum_ack_latency',
  'jvm_pause_time_ms',
];
