/**
 * What a member tells of a session whose client is connected to it: its traffic and its watches.
 *
 * It tells them to its own admin port and to other members that ask for an operator, whose
 * questions come from a wire. An answer has a bound in watches and in characters.
 */
import type { Identity } from '@rookery/protocol';
import type { ConnectionView, WordContext } from '../net/four-letter/context.js';
import { prefixedHex } from '../net/four-letter/format.js';
import { withoutFormerDigests } from '../pipeline/former-digests.js';
import type { SessionId } from '../state/txn.js';
import type { WatcherId, WatchMode, WatchTable } from '../state/watches.js';

export const WATCH_MODES: readonly WatchMode[] = ['data', 'child', 'persistent', 'recursive'];
/** The number of a session's watches that an answer shows. */
export const WATCHED_MAX = 1000;
/** The characters of the watches' paths; an answer between members has 256 KB at most. */
const CHARACTERS_MAX = 60_000;
const IDENTITY_CHARACTERS_MAX = 1000;

export interface SessionTeller {
  context(): WordContext;
  readonly watches: Pick<WatchTable, 'pathsOf'>;
  watcherOf(session: SessionId): WatcherId | undefined;
  identitiesOf(session: SessionId): readonly Identity[] | undefined;
}

/** An identity without what is secret of it. */
export interface ShownIdentity {
  readonly scheme: string;
  readonly id: string;
}

export interface WatchedPath {
  readonly path: string;
  readonly mode: WatchMode;
}

export interface WatchedPaths {
  readonly watched: readonly WatchedPath[];
  /** Whether the session watches more than that. */
  readonly watchedTruncated: boolean;
}

/** Null unless the session's client is connected to this member. */
export function sessionAnswer(member: SessionTeller, session: unknown) {
  for (const connection of member.context().connections()) {
    const { sessionId } = connection.stats;
    if (sessionId === 0 || prefixedHex(sessionId) !== session) continue;
    const id = Number(sessionId);
    const identities = shownIdentities(member.identitiesOf(id) ?? []);
    return { traffic: trafficOf(connection), ...watchedBy(member, id), identities };
  }
  return null;
}

export function trafficOf({ stats }: ConnectionView) {
  return {
    established: Math.floor(stats.establishedWallMs),
    received: stats.received,
    sent: stats.sent,
    outstanding: stats.outstanding,
    lastOperation: stats.lastOperation,
    averageLatencyMs: stats.latency.averageMs,
    maxLatencyMs: stats.latency.maxMs,
  };
}

/** Shows of a digest the user alone, because the rest lets one guess the password. */
export function shownIdentities(identities: readonly Identity[]): readonly ShownIdentity[] {
  return withoutFormerDigests(identities).map(({ scheme, id }) => ({
    scheme,
    id: (scheme === 'digest' ? id.replace(/:.*/s, '') : id).slice(0, IDENTITY_CHARACTERS_MAX),
  }));
}

/** What the session watches, as far as this member knows; nothing if it is connected elsewhere. */
export function watchedBy(
  member: Pick<SessionTeller, 'watches' | 'watcherOf'>,
  session: SessionId,
): WatchedPaths {
  const watcher = member.watcherOf(session);
  const watched: WatchedPath[] = [];
  let characters = 0;
  if (watcher === undefined) return { watched, watchedTruncated: false };
  for (const mode of WATCH_MODES) {
    for (const path of member.watches.pathsOf(mode, watcher)) {
      characters += path.length;
      if (watched.length === WATCHED_MAX || characters > CHARACTERS_MAX) {
        return { watched, watchedTruncated: true };
      }
      watched.push({ path, mode });
    }
  }
  return { watched, watchedTruncated: false };
}
