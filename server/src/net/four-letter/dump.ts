/**
 * `dump`: sessions by the time of their expiry, ephemerals by session, and connections by a time of
 * expiry as ZooKeeper computes it.
 *
 * Of replicated sessions only a leader knows when they expire; a follower lists them with their
 * timeouts. Local sessions are shown by their own member, with the time of their expiry.
 * Empty sets, which ZooKeeper prints for a while, are left out. Each set by time is preceded by its
 * size, so the sets are collected first, with a few bytes for each element.
 */
import { longAddressText } from '@rookery/protocol';
import type { SessionExpiry, SessionsView } from '../member-view.js';
import type { ConnectionView, WordContext } from './context.js';
import { formatDate, formatHex } from './format.js';

/** The interval at which ZooKeeper examines its connections for expiry. */
const CONNECTION_INTERVAL_MS = 10_000;

export function* dumpReply(context: WordContext): Generator<string> {
  yield 'SessionTracker dump:\n';
  yield* sessionLines(context, context.view.sessions);
  yield* ephemeralLines(context);
  yield 'Connections dump:\n';
  yield* expirySets('Connections Sets', context.connections(), {
    intervalMs: CONNECTION_INTERVAL_MS,
    wallMsOf: ({ expiresWallMs }) => expiresWallMs,
    keptOf: (connection) => connection,
    lineOf: connectionLine,
  });
}

function* sessionLines(context: WordContext, sessions: SessionsView): Generator<string> {
  const { local, expiries } = sessions;
  if (local !== null) {
    yield 'Local ';
    yield* sessionSets(context, local);
    if (expiries !== null) yield 'Global ';
  }
  if (expiries !== null) {
    yield* sessionSets(context, expiries);
    return;
  }
  yield `Global Sessions(${context.view.globalSessions}):\n`;
  for (const { id, timeoutMs } of sessions.all) yield `0x${formatHex(id)}\t${timeoutMs}ms\n`;
}

function sessionSets(
  { view, wallMs }: WordContext,
  expiries: Iterable<SessionExpiry>,
): Generator<string> {
  return expirySets('Session Sets', expiries, {
    intervalMs: view.configuration.tickTimeMs,
    wallMsOf: ({ inMs }) => wallMs + inMs,
    keptOf: ({ id }) => id,
    lineOf: (id) => `\t0x${formatHex(id)}\n`,
  });
}

function* ephemeralLines({ view }: WordContext): Generator<string> {
  yield `ephemeral nodes dump:\nSessions with Ephemerals (${view.ephemeralOwners}):\n`;
  for (const { session, paths } of view.ephemerals()) {
    yield `0x${formatHex(session)}:\n`;
    for (const path of paths) yield path === null ? '' : `\t${path}\n`;
  }
}

function connectionLine({ remoteAddress, remotePort, stats }: ConnectionView): string {
  const session = formatHex(stats.sessionId);
  return `\tip: /${longAddressText(remoteAddress, remotePort)} sessionId: 0x${session}\n`;
}

interface SetsOf<T, Kept> {
  readonly intervalMs: number;
  readonly wallMsOf: (one: T) => number;
  /** The fields that its line needs. */
  readonly keptOf: (one: T) => Kept;
  readonly lineOf: (kept: Kept) => string;
}

/** Times are rounded up to the interval, like the sets of ZooKeeper's expiry queue. */
function* expirySets<T, Kept>(
  title: string,
  all: Iterable<T>,
  { intervalMs, wallMsOf, keptOf, lineOf }: SetsOf<T, Kept>,
): Generator<string> {
  const sets = new Map<number, Kept[]>();
  let count = 0;
  for (const one of all) {
    const at = Math.ceil(wallMsOf(one) / intervalMs) * intervalMs;
    const set = sets.get(at);
    if (set === undefined) sets.set(at, [keptOf(one)]);
    else set.push(keptOf(one));
    count += 1;
    yield '';
  }
  yield `${title} (${sets.size})/(${count}):\n`;
  for (const [at, set] of [...sets].sort(([a], [b]) => a - b)) {
    yield `${set.length} expire at ${formatDate(at)}:\n`;
    for (const kept of set) yield lineOf(kept);
  }
}
