/**
 * What a member tells of the paths and sessions that are asked for and ask most, as rates.
 *
 * It tells them to its own admin port and to other members that ask for an operator. Paths are told
 * whatever their ACLs say, as `dump` and `wchp` do, so this is for those who may use the admin
 * port. An answer has a bound in entries, and each path is cut (named-paths.ts).
 */
import type { WordContext } from '../net/four-letter/context.js';
import { prefixedHex } from '../net/four-letter/format.js';
import type { HotKey, HotReport } from '../pipeline/hot-requests.js';

/** The paths, or sessions, in each list of an answer. */
export const HOT_MAX = 50;
/** A single request would be a high rate in less time. */
const SPAN_MS_MIN = 200;

export interface HotTeller {
  context(): WordContext;
  hotRequests(limit: number): HotReport;
}

export interface HotPath {
  readonly path: string;
  readonly perSecond: number;
}

export interface HotClient {
  readonly session: string;
  /** '' for a client within the member itself; null if it is no longer connected. */
  readonly host: string | null;
  readonly port: number;
  readonly perSecond: number;
}

export interface HotAnswer {
  /** The time that it covers; 0 when watching has just begun, with nothing in the lists. */
  readonly spanMs: number;
  readonly every: number;
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
  readonly requestsPerSecond: number;
  readonly reads: readonly HotPath[];
  readonly writes: readonly HotPath[];
  readonly clients: readonly HotClient[];
}

export function hotAnswer(member: HotTeller): HotAnswer {
  const { every, reads, writes, sessions, ...report } = member.hotRequests(HOT_MAX);
  const spanMs = report.spanMs < SPAN_MS_MIN ? 0 : Math.round(report.spanMs);
  const rate = (count: number): number => {
    return spanMs === 0 ? 0 : Math.round((10_000 * count) / spanMs) / 10;
  };
  const paths = (keys: readonly HotKey<string>[]): readonly HotPath[] => {
    return keys.map(({ key, count }) => ({ path: key, perSecond: rate(count) }));
  };
  const isShort = spanMs === 0;
  return {
    spanMs,
    every,
    readsPerSecond: rate(reads.total),
    writesPerSecond: rate(writes.total),
    requestsPerSecond: rate(sessions.total),
    reads: isShort ? [] : paths(reads.keys),
    writes: isShort ? [] : paths(writes.keys),
    clients: isShort ? [] : clientsOf(member, sessions.keys, rate),
  };
}

function clientsOf(
  member: HotTeller,
  sessions: readonly HotKey<number>[],
  rate: (count: number) => number,
): readonly HotClient[] {
  const wanted = new Set<unknown>(sessions.map(({ key }) => key));
  const places = new Map<unknown, { readonly host: string; readonly port: number }>();
  for (const { stats, remoteAddress: host, remotePort: port } of member.context().connections()) {
    if (wanted.has(stats.sessionId)) places.set(stats.sessionId, { host, port });
  }
  return sessions.map(({ key, count }) => {
    const { host = null, port = 0 } = places.get(key) ?? {};
    return { session: prefixedHex(key), host, port, perSecond: rate(count) };
  });
}
