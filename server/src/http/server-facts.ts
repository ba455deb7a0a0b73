/**
 * `/commands/server_stats`: the summary of a member.
 */
import type { WordContext } from '../net/four-letter/context.js';
import { decimal } from './connection-facts.js';
import type { Json } from './json-text.js';

export function serverStats(context: WordContext): Readonly<Record<string, Json>> {
  const { view, stats, connectionCount } = context;
  const { configuration, leader } = view;
  const responses = bufferSizes(stats.responseSizes);
  return {
    version: view.version,
    read_only: view.mode === 'read-only',
    server_stats: {
      packets_sent: stats.packetsSent,
      packets_received: stats.packetsReceived,
      fsync_threshold_exceed_count: view.details.counters.slowSyncs,
      client_response_stats: responses,
      data_dir_size: configuration.dataDirBytes,
      log_dir_size: configuration.dataLogBytes,
      provider_null: false,
      server_state: view.mode,
      last_processed_zxid: view.lastZxid,
      outstanding_requests: view.outstandingRequests,
      avg_latency: decimal(stats.latency.averageMs),
      max_latency: Math.floor(stats.latency.maxMs),
      min_latency: Math.floor(stats.latency.minMs),
      num_alive_client_connections: connectionCount,
      uptime: Math.floor(view.uptimeMs),
      auth_failed_count: figureOf(context, 'auth_failed_count'),
      // ZooKeeper counts these with Netty only, so by default they are 0 there, too.
      non_mtlsremote_conn_count: 0,
      non_mtlslocal_conn_count: 0,
    },
    client_response: responses,
    ...(leader === null ? {} : { proposal_stats: sizesOf(leader.proposalSizes) }),
    node_count: view.nodeCount,
  };
}

interface Sizes {
  readonly last: number;
  readonly min: number;
  readonly max: number;
}

function bufferSizes({ count, last, min, max }: Sizes & { readonly count: number }): Json {
  return sizesOf(count === 0 ? { last: -1, min: -1, max: -1 } : { last, min, max });
}

function sizesOf({ last, min, max }: Sizes): Json {
  return { last_buffer_size: last, min_buffer_size: min, max_buffer_size: max };
}

function figureOf({ view }: WordContext, name: string): number {
  return view.extraMetrics.find((metric) => metric.name === name)?.value ?? 0;
}
