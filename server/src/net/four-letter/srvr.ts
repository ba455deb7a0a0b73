/**
 * `srvr` and `stat`: the summary of a member, with or without its clients.
 *
 * zktop and kazoo parse these by line: no line may be added before `Mode:` or after the last. One
 * line of Rookery's own says that the disk is full.
 */
import { longAddressText } from '@rookery/protocol';
import type { MemberView } from '../member-view.js';
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
    ...diskLines(view),
    `Node count: ${view.nodeCount}`,
  ];
  if (view.leader !== null) {
    const { last, min, max } = view.leader.proposalSizes;
    lines.push(`Proposal sizes last/min/max: ${last}/${min}/${max}`);
  }
  return `${lines.join('\n')}\n`;
}

/** No line unless the disk is full. */
export function diskLines({ health }: Pick<MemberView, 'health'>): readonly string[] {
  const { diskShortage, sparedBy } = health;
  if (diskShortage === null) return [];
  const { freeBytes, reserveBytes } = diskShortage;
  const sizes = `${megabytes(freeBytes)} MB free, the reserve is ${megabytes(reserveBytes)} MB`;
  const then = sparedBy === 0 ? '' : `; leader ${sparedBy} goes on without this member`;
  return [`Disk: full, ${sizes}${then}`];
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1e6);
}

function whole(ms: number): number {
  return Math.floor(ms);
}
