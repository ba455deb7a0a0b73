/**
 * The clients of a member as `/commands/connections` and `/commands/stats` list them: those without
 * and those with TLS.
 */
import { longAddressText } from '@rookery/protocol';
import type { ConnectionView, WordContext } from '../net/four-letter/context.js';
import { Decimal, type Json } from './json-text.js';

export function connections(context: WordContext): Readonly<Record<string, Json>> {
  return listsOf(context, wholeFacts);
}

export function briefConnections(context: WordContext): Readonly<Record<string, Json>> {
  return listsOf(context, briefFacts);
}

function listsOf(context: WordContext, factsOf: (connection: ConnectionView) => Json) {
  function* list(isSecured: boolean): Generator<Json> {
    for (const one of context.connections()) if (one.isSecured === isSecured) yield factsOf(one);
  }
  return { connections: list(false), secure_connections: list(true) };
}

function briefFacts(connection: ConnectionView) {
  const { remoteAddress, remotePort, interestOps, stats } = connection;
  return {
    remote_socket_address: longAddressText(remoteAddress, remotePort),
    interest_ops: interestOps,
    outstanding_requests: stats.outstanding,
    packets_received: stats.received,
    packets_sent: stats.sent,
  };
}

function wholeFacts(connection: ConnectionView): Json {
  const { stats } = connection;
  return {
    ...briefFacts(connection),
    session_id: stats.sessionId,
    last_operation: stats.lastOperation,
    established: Math.floor(stats.establishedWallMs),
    session_timeout: stats.sessionTimeoutMs,
    last_cxid: stats.lastXid,
    last_zxid: stats.lastZxid,
    last_response_time: Math.floor(stats.lastResponseMs),
    last_latency: Math.floor(stats.lastLatencyMs),
    min_latency: Math.floor(stats.latency.minMs),
    avg_latency: Math.floor(stats.latency.averageMs),
    max_latency: Math.floor(stats.latency.maxMs),
  };
}

export function decimal(value: number): Decimal {
  return new Decimal(Math.round(value * 10_000) / 10_000);
}
