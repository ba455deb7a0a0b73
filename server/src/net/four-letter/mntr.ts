/**
 * `mntr`: the member's figures, one `zk_<name>\t<value>` per line.
 *
 * Integers are bare, averages have decimals. Names and order follow ZooKeeper's so that scripts and
 * Exhibitor find them; `zk_followers` is the old name of `zk_synced_followers`, still read by some.
 */
import type { LeaderView } from '../member-view.js';
import type { WordContext } from './context.js';
import { formatDecimal } from './format.js';

type Line = readonly [name: string, value: number | string];

export function monitorReply(context: WordContext): string {
  const { view } = context;
  const lines: Line[] = [
    ['version', view.version],
    ['server_state', view.mode],
  ];
  if (view.quorum !== null) lines.push(['peer_state', view.quorum.peerState]);
  lines.push(...gauges(context), ...counters(context));
  if (view.quorum !== null) lines.push(['quorum_size', view.quorum.quorumSize]);
  if (view.leader !== null) lines.push(...leaderLines(view.leader));
  for (const { name, value, decimal } of view.extraMetrics) {
    lines.push([name, decimal ? formatDecimal(value) : Math.floor(value)]);
  }
  return lines.map(([name, value]) => `zk_${name}\t${value}\n`).join('');
}

function gauges({ view, stats, connections }: WordContext): Line[] {
  const { latency } = stats;
  return [
    ['ephemerals_count', view.ephemeralCount],
    ['num_alive_connections', connections.length],
    ['avg_latency', formatDecimal(latency.averageMs)],
    ['outstanding_requests', view.outstandingRequests],
    ['znode_count', view.nodeCount],
    ['global_sessions', view.globalSessions],
    ['packets_sent', stats.packetsSent],
    ['packets_received', stats.packetsReceived],
    ['watch_count', view.watches.watches],
    ['min_latency', Math.floor(latency.minMs)],
    ['approximate_data_size', view.approximateDataBytes],
    ['local_sessions', view.localSessions],
    ['uptime', Math.floor(view.uptimeMs)],
    ['max_latency', Math.floor(latency.maxMs)],
  ];
}

function counters({ stats }: WordContext): Line[] {
  return [
    ['large_requests_rejected', stats.largeRequestsRejected],
    ['connection_rejected', stats.connectionsRejected],
    ['sessionless_connections_expired', stats.sessionlessExpired],
    ['connection_drop_count', stats.connectionsDropped],
    ['bytes_received_count', stats.bytesReceived],
    ['connection_request_count', stats.connectionRequests],
    ['response_bytes', stats.bytesSent],
  ];
}

function leaderLines(leader: LeaderView): Line[] {
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
