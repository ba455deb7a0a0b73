/**
 * `mntr`: the member's figures, one `zk_<name>\t<value>` per line.
 *
 * Integers are bare, averages have decimals. Names and order are ZooKeeper's; `zk_followers` is the
 * old name of `zk_synced_followers`, still read by Exhibitor. What Rookery counts beyond follows.
 */
import type { Summary } from '../summary.js';
import type { WordContext } from './context.js';
import { formatDecimal } from './format.js';
import { LEADER_NAMES, PERCENTILE_NAMES, SUMMARY_NAMES, VALUE_NAMES } from './mntr-names.js';

type Value = number | string;
type Line = readonly [name: string, value: Value];

const NO_SIZE = -1;

export function monitorReply(context: WordContext): string {
  const lines = [...head(context), ...values(context), ...summaries(context)];
  return lines.map(([name, value]) => `zk_${name}\t${value}\n`).join('');
}

function head({ view }: WordContext): Line[] {
  const lines: Line[] = [
    ['version', view.version],
    ['server_state', view.mode],
  ];
  if (view.quorum === null || view.mode === 'read-only') return lines;
  return [...lines, ['peer_state', view.quorum.peerState], ['quorum_size', view.quorum.quorumSize]];
}

function values(context: WordContext): Line[] {
  const known = new Map<string, Value>([
    ...gauges(context),
    ...counters(context),
    ...leaderValues(context),
  ]);
  for (const { name, value, decimal } of context.view.extraMetrics) {
    known.set(name, decimal ? formatDecimal(value) : Math.floor(value));
  }
  const isLeader = context.view.leader !== null;
  const names = VALUE_NAMES.filter((name) => isLeader || !LEADER_NAMES.has(name));
  const lines = names.map((name): Line => [name, known.get(name) ?? 0]);
  const own = [...known].filter(([name]) => !VALUE_NAMES.includes(name));
  return [...lines, ...own];
}

function gauges({ view, stats, connectionCount }: WordContext): Line[] {
  const { latency } = stats;
  // Each reading of it lists a directory of the system, with an entry for each connection.
  const { openFiles } = view;
  return [
    ['ephemerals_count', view.ephemeralCount],
    ['num_alive_connections', connectionCount],
    ['avg_latency', formatDecimal(latency.averageMs)],
    ['outstanding_requests', view.outstandingRequests],
    ['znode_count', view.nodeCount],
    ['global_sessions', view.globalSessions],
    ['local_sessions', view.localSessions],
    ['connection_drop_probability', formatDecimal(0)],
    ['watch_count', view.watches.all],
    ['min_latency', Math.floor(latency.minMs)],
    ['max_latency', Math.floor(latency.maxMs)],
    ['approximate_data_size', view.approximateDataBytes],
    ['uptime', Math.floor(view.uptimeMs)],
    ['open_file_descriptor_count', openFiles.count],
    ['max_file_descriptor_count', openFiles.max],
    ['last_client_response_size', stats.responseSizes.last],
    [
      'min_client_response_size',
      stats.responseSizes.count === 0 ? NO_SIZE : stats.responseSizes.min,
    ],
    [
      'max_client_response_size',
      stats.responseSizes.count === 0 ? NO_SIZE : stats.responseSizes.max,
    ],
  ];
}

function counters({ stats }: WordContext): Line[] {
  return [
    ['packets_sent', stats.packetsSent],
    ['packets_received', stats.packetsReceived],
    ['large_requests_rejected', stats.largeRequestsRejected],
    ['connection_rejected', stats.connectionsRejected],
    ['sessionless_connections_expired', stats.sessionlessExpired],
    ['connection_drop_count', stats.connectionsDropped],
    ['bytes_received_count', stats.bytesReceived],
    ['connection_request_count', stats.connectionRequests],
    ['response_bytes', stats.bytesSent],
  ];
}

function leaderValues({ view: { leader } }: WordContext): Line[] {
  if (leader === null) return [];
  return [
    ['learners', leader.learners],
    ['synced_followers', leader.syncedFollowers],
    ['followers', leader.syncedFollowers],
    ['synced_observers', leader.syncedObservers],
    ['pending_syncs', leader.pendingSyncs],
    ['leader_uptime', Math.floor(leader.uptimeMs)],
    ['last_proposal_size', leader.proposalSizes.last],
    ['min_proposal_size', leader.proposalSizes.min],
    ['max_proposal_size', leader.proposalSizes.max],
  ];
}

function summaries({ view, stats }: WordContext): Line[] {
  const known = new Map<string, Summary>([
    ...view.summaries(),
    ['readlatency', stats.readLatency],
    ['updatelatency', stats.updateLatency],
    ['connection_token_deficit', stats.tokenDeficit],
  ]);
  return [
    ...SUMMARY_NAMES.flatMap((name) => summaryLines(name, known.get(name))),
    ...PERCENTILE_NAMES.flatMap((name) => [
      ...summaryLines(name, known.get(name)),
      ...percentileLines(name, known.get(name)),
    ]),
  ];
}

function summaryLines(name: string, summary: Summary | undefined): Line[] {
  return [
    [`avg_${name}`, formatDecimal(summary?.average ?? 0)],
    [`min_${name}`, summary?.min ?? 0],
    [`max_${name}`, summary?.max ?? 0],
    [`cnt_${name}`, summary?.count ?? 0],
    [`sum_${name}`, summary?.sum ?? 0],
  ];
}

function percentileLines(name: string, summary: Summary | undefined): Line[] {
  return [
    [`p50_${name}`, summary?.percentile(0.5) ?? 0],
    [`p95_${name}`, summary?.percentile(0.95) ?? 0],
    [`p99_${name}`, summary?.percentile(0.99) ?? 0],
    [`p999_${name}`, summary?.percentile(0.999) ?? 0],
  ];
}
