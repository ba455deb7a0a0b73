/**
 * `cons`: one line per client connection, with its session once it has one.
 */
import { longAddressText } from '@rookery/protocol';
import type { ConnectionView } from './context.js';
import { formatHex } from './format.js';

export function* connectionsReply(connections: Iterable<ConnectionView>): Generator<string> {
  for (const connection of connections) yield connectionLine(connection);
  yield '\n';
}

function connectionLine({ remoteAddress, remotePort, interestOps, stats }: ConnectionView): string {
  const facts = [`queued=${stats.outstanding}`, `recved=${stats.received}`, `sent=${stats.sent}`];
  if (stats.sessionId !== 0) {
    facts.push(
      `sid=0x${formatHex(stats.sessionId)}`,
      `lop=${stats.lastOperation}`,
      `est=${Math.floor(stats.establishedWallMs)}`,
      `to=${stats.sessionTimeoutMs}`,
      `lcxid=0x${formatHex(stats.lastXid)}`,
      `lzxid=0x${formatHex(stats.lastZxid)}`,
      `lresp=${Math.floor(stats.lastResponseMs)}`,
      `llat=${Math.floor(stats.lastLatencyMs)}`,
      `minlat=${Math.floor(stats.latency.minMs)}`,
      `avglat=${Math.floor(stats.latency.averageMs)}`,
      `maxlat=${Math.floor(stats.latency.maxMs)}`,
    );
  }
  return ` /${longAddressText(remoteAddress, remotePort)}[${interestOps}](${facts.join(',')})\n`;
}
