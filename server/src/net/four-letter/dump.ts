/**
 * `dump`: sessions by the time they expire, ephemerals by session, connections by their expiry.
 *
 * Only a leader knows when a session expires; a follower lists the sessions with their timeouts.
 * Sets of nobody, which ZooKeeper prints for a while, are left out.
 */
import type { SessionExpiry, SessionsView } from '../member-view.js';
import type { WordContext } from './context.js';
import { formatDate, formatHex } from './format.js';

/** ZooKeeper's cleaner of connections looks this often. */
const CONNECTION_INTERVAL_MS = 10_000;

export function dumpReply(context: WordContext): string {
  const { sessions } = context.view;
  return `SessionTracker dump:\n${sessionLines(context, sessions)}${ephemeralLines(context)}\
Connections dump:\n${connectionLines(context)}`;
}

function sessionLines(context: WordContext, sessions: SessionsView): string {
  const local = sessions.local;
  const global = globalLines(context, sessions);
  if (local === null) return global;
  return `Local ${setsOf(context, local)}${sessions.expiries === null ? '' : 'Global '}${global}`;
}

function globalLines(context: WordContext, { expiries, all }: SessionsView): string {
  if (expiries !== null) return setsOf(context, expiries);
  const lines = all.map(({ id, timeoutMs }) => `0x${formatHex(id)}\t${timeoutMs}ms\n`);
  return `Global Sessions(${all.length}):\n${lines.join('')}`;
}

function setsOf({ view, wallMs }: WordContext, expiries: readonly SessionExpiry[]): string {
  const entries = expiries.map(({ id, inMs }) => ({
    wallMs: wallMs + inMs,
    line: `\t0x${formatHex(id)}\n`,
  }));
  return expiryLines('Session Sets', entries, view.configuration.tickTimeMs);
}

function ephemeralLines({ view }: WordContext): string {
  const owners = view.ephemerals();
  const lines = owners.map(
    ({ session, paths }) =>
      `0x${formatHex(session)}:\n${paths.map((path) => `\t${path}\n`).join('')}`,
  );
  return `ephemeral nodes dump:\nSessions with Ephemerals (${owners.length}):\n${lines.join('')}`;
}

function connectionLines({ connections }: WordContext): string {
  const entries = connections.map((connection) => {
    const { remoteAddress, remotePort, expiresWallMs, stats } = connection;
    const session = formatHex(stats.sessionId);
    const line = `\tip: /${remoteAddress}:${remotePort} sessionId: 0x${session}\n`;
    return { wallMs: expiresWallMs, line };
  });
  return expiryLines('Connections Sets', entries, CONNECTION_INTERVAL_MS);
}

interface Entry {
  readonly wallMs: number;
  readonly line: string;
}

/** Times are rounded up to the interval, as the sets of ZooKeeper's expiry queue are. */
function expiryLines(title: string, entries: readonly Entry[], intervalMs: number): string {
  const sets = new Map<number, string[]>();
  for (const { wallMs, line } of entries) {
    const at = Math.ceil(wallMs / intervalMs) * intervalMs;
    const set = sets.get(at);
    if (set === undefined) sets.set(at, [line]);
    else set.push(line);
  }
  const lines = [...sets]
    .sort(([a], [b]) => a - b)
    .map(([at, set]) => `${set.length} expire at ${formatDate(at)}:\n${set.join('')}`);
  return `${title} (${sets.size})/(${entries.length}):\n${lines.join('')}`;
}
