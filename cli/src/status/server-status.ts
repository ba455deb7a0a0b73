/** Reads what one server, of Rookery or ZooKeeper, reports about itself with `srvr`. */
import { linesOf } from './word-answers.js';

export interface ServerStatus {
  readonly mode: string;
  /** In hex with 0x, as the server prints it. */
  readonly zxid: string;
  readonly connections: number;
  readonly outstanding: number;
  readonly znodes: number;
  /** Latencies in ms. */
  readonly latency: { readonly avg: number; readonly max: number };
  readonly version: string;
  /** What a member of Rookery says of its disk while that is full; otherwise null. */
  readonly fullDisk: string | null;
}

const DISK_TEXT_MAX = 200;

/** The modes of a server that leads, or needs no leader. */
export const LEADING: ReadonlySet<string> = new Set(['leader', 'standalone']);
const FOLLOWING: ReadonlySet<string> = new Set(['follower', 'observer']);

export function isLeading(status: ServerStatus | null): boolean {
  return status !== null && LEADING.has(status.mode);
}

/** Whether it serves because it has a leader, even if that is not among the servers asked. */
export function isFollowing(status: ServerStatus | null): boolean {
  return status !== null && FOLLOWING.has(status.mode);
}

/** Whether it serves only reads, because it is cut off from its quorum. */
export function isReadOnly(status: ServerStatus | null): boolean {
  return status !== null && status.mode === 'read-only';
}

/** Null unless the server serves; a server without a quorum answers with another text. */
export function parseStatus(text: string): ServerStatus | null {
  const lines = srvrLines(text);
  const mode = lines.get('Mode');
  const zxid = lines.get('Zxid');
  if (mode === undefined || zxid === undefined) return null;
  const [, avg = 0, max = 0] = (lines.get('Latency min/avg/max') ?? '').split('/').map(Number);
  return {
    mode,
    zxid,
    connections: Number(lines.get('Connections') ?? 0),
    outstanding: Number(lines.get('Outstanding') ?? 0),
    znodes: Number(lines.get('Node count') ?? 0),
    latency: { avg, max },
    version: lines.get('Zookeeper version') ?? '',
    fullDisk: fullDiskIn(text),
  };
}

/** Of the answer of a member that serves or not: what it says of its disk while that is full. */
export function fullDiskIn(text: string): string | null {
  return srvrLines(text).get('Disk')?.slice(0, DISK_TEXT_MAX) ?? null;
}

function srvrLines(text: string): ReadonlyMap<string, string> {
  return linesOf(text, ':') ?? new Map();
}

const WAITS = 'not currently serving requests';
const WAITS_FOR = 'Waits: ';
const IS_FORBIDDEN = 'not in the whitelist';

/** Whether the answer to `srvr` is one of a server of Rookery or ZooKeeper. */
export function isOfServer(text: string): boolean {
  if (parseStatus(text) !== null) return true;
  return saysItLacksQuorum(text) || text.includes(IS_FORBIDDEN);
}

/** Whether a server says in its answer to `srvr` that it serves no clients. */
export function saysItLacksQuorum(text: string): boolean {
  return text.includes(WAITS);
}

/** Returns a sentence for an answer that is not a status. */
export function reasonOf(text: string): string {
  if (text.trim() === '') return 'it closes the connection without an answer';
  const fullDisk = fullDiskIn(text);
  if (saysItLacksQuorum(text)) {
    const why =
      fullDisk === null ? 'it has no quorum and serves no clients' : 'it serves no clients';
    const disk = fullDisk === null ? '' : `, its disk is ${fullDisk}`;
    return `${why}${disk}${waitsIn(text)}`;
  }
  if (text.includes(IS_FORBIDDEN)) return 'its configuration does not allow the word srvr';
  return `it answered ${JSON.stringify(text.slice(0, 100))}`;
}

/** What a member of Rookery adds while no leader can be elected. */
function waitsIn(text: string): string {
  const line = text.split('\n').find((one) => one.startsWith(WAITS_FOR));
  return line === undefined ? '' : `: ${line.slice(WAITS_FOR.length).trim()}`;
}
