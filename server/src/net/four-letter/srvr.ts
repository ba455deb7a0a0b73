/**
 * `srvr` and `stat`: the summary of a member, with or without its clients.
 *
 * zktop and kazoo parse these by line: no line may be added before `Mode:` or after the last.
 */
import { longAddressText } from '@rookery/protocol';
import type { ConnectionView, WordContext } from './context.js';
import { formatDecimal, formatHex } from './format.js';

export function serverReply(context: WordContext): string {
  return versionLine(context) + summary(context);
}

export function* statusReply(context: WordContext): Generator<string> {
  yield `${versionLine(context)}Clients:\n`;
  for (const connection of context.connections()) yield clientLine(connection);
  yield `\n${summary(context)}`;
}

function versionLine({ view }: WordContext): string {
  const readOnly =
    view.mode === 'read-only' ? 'READ-ONLY mode; serving only read-only clients\n' : '';
  return `Zookeeper version: ${view.version}\n${readOnly}`;
}

function clientLine({ remoteAddress, remotePort, interestOps, stats }: ConnectionView): string {
  const counts = `queued=${stats.outstanding},recved=${stats.received},sent=${stats.sent}`;
  return ` /${longAddressText(remoteAddress, remotePort)}[${interestOps}](${counts})\n`;
}

function summary({ view, stats, connectionCount }: WordContext): string {
  const { minMs, averageMs, maxMs } = stats.latency;
  const lines = [
    `Latency min/avg/max: ${whole(minMs)}/${formatDecimal(averageMs)}/${whole(maxMs)}`,
    `Received: ${stats.packetsReceived}`,
    `Sent: ${stats.packetsSent}`,
    `Connections: ${connectionCount}`,
    `Outstanding: ${view.outstandingRequests}`,
    `Zxid: 0x${formatHex(view.lastZxid)}`,
    `Mode: ${view.mode}`,
    `Node count: ${view.nodeCount}`,
  ];
  if (view.leader !== null) {
    const { last, min, max } = view.leader.proposalSizes;
    lines.push(`Proposal sizes last/min/max: ${last}/${min}/${max}`);
  }
  return `${lines.join('\n')}\n`;
}

function whole(ms: number): number {
  return Math.floor(ms);
}
