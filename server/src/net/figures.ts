/**
 * The figures of a member for `mntr`, the metrics port and the admin port, under ZooKeeper's names
 * and under names in its style for what only Rookery has.
 *
 * ZooKeeper determines which are gauges and which are counters. A figure that does not exist in the
 * member's role is absent. Everything is read from the context on demand, and nothing is kept.
 */
import type { SummaryView } from '../measures/summary.js';
import type { Figure, MemberView } from './member-view.js';
import type { ServerStats } from './server-stats.js';

export interface FiguresContext {
  readonly view: MemberView;
  readonly stats: ServerStats;
  readonly connectionCount: number;
}

/** The figures that are printed with decimals even if they are whole numbers. */
export const DECIMAL_NAMES: ReadonlySet<string> = new Set(['avg_latency']);

const NO_SIZE = -1;

export function figuresOf(context: FiguresContext): Figure[] {
  const { quorum, mode } = context.view;
  const isInQuorum = quorum !== null && mode !== 'read-only';
  return [
    ...(isInQuorum ? [gauge('quorum_size', quorum.quorumSize)] : []),
    ...gauges(context),
    ...counters(context),
    ...leaderValues(context),
    ...tlsValues(context),
    ...context.view.extraMetrics,
  ];
}

/** The summaries by their names in `mntr`; durations are in ms. */
export function summariesOf({ view, stats }: FiguresContext): [name: string, SummaryView][] {
  return [
    ...view.summaries().map(([name, summary]): [string, SummaryView] => [name, summary]),
    ['readlatency', stats.readLatency],
    ['updatelatency', stats.updateLatency],
    ['connection_token_deficit', stats.tokenDeficit],
  ];
}

function gauges({ view, stats, connectionCount }: FiguresContext): Figure[] {
  const { latency, responseSizes } = stats;
  // It is read once, so that the count and the maximum are of the same moment.
  const { openFiles } = view;
  const isAnswered = responseSizes.count > 0;
  return [
    gauge('ephemerals_count', view.ephemeralCount),
    gauge('num_alive_connections', connectionCount),
    gauge('avg_latency', latency.averageMs),
    gauge('outstanding_requests', view.outstandingRequests),
    gauge('znode_count', view.nodeCount),
    gauge('global_sessions', view.globalSessions),
    gauge('local_sessions', view.localSessions),
    gauge('watch_count', view.watches.all),
    gauge('min_latency', Math.floor(latency.minMs)),
    gauge('max_latency', Math.floor(latency.maxMs)),
    gauge('approximate_data_size', view.approximateDataBytes),
    gauge('uptime', Math.floor(view.uptimeMs)),
    gauge('open_file_descriptor_count', openFiles.count),
    gauge('max_file_descriptor_count', openFiles.max),
    gauge('packets_sent', stats.packetsSent),
    gauge('packets_received', stats.packetsReceived),
    gauge('last_client_response_size', responseSizes.last),
    gauge('min_client_response_size', isAnswered ? responseSizes.min : NO_SIZE),
    gauge('max_client_response_size', isAnswered ? responseSizes.max : NO_SIZE),
  ];
}

function counters({ stats }: FiguresContext): Figure[] {
  return [
    counter('large_requests_rejected', stats.largeRequestsRejected),
    counter('connection_rejected', stats.connectionsRejected),
    counter('sessionless_connections_expired', stats.sessionlessExpired),
    counter('connection_drop_count', stats.connectionsDropped),
    counter('bytes_received_count', stats.bytesReceived),
    counter('connection_request_count', stats.connectionRequests),
    counter('response_bytes', stats.bytesSent),
    counter('watch_bytes', stats.watchBytes),
  ];
}

function leaderValues({ view: { leader } }: FiguresContext): Figure[] {
  if (leader === null) return [];
  return [
    gauge('learners', leader.learners),
    gauge('synced_followers', leader.syncedFollowers),
    gauge('followers', leader.syncedFollowers),
    gauge('synced_observers', leader.syncedObservers),
    gauge('synced_non_voting_followers', leader.syncedObservers),
    gauge('pending_syncs', leader.pendingSyncs),
    gauge('leader_uptime', Math.floor(leader.leadsForMs)),
    gauge('last_proposal_size', leader.proposalSizes.last),
    gauge('min_proposal_size', leader.proposalSizes.min),
    gauge('max_proposal_size', leader.proposalSizes.max),
  ];
}

function tlsValues({ stats: { tls } }: FiguresContext): Figure[] {
  if (tls === null) return [];
  return [
    gauge('outstanding_tls_handshake', tls.underWay),
    counter('tls_handshake_exceeded', tls.failures('too_many')),
  ];
}

export function gauge(name: string, value: number): Figure {
  return { kind: 'gauge', name, value };
}

export function counter(name: string, value: number): Figure {
  return { kind: 'counter', name, value };
}
