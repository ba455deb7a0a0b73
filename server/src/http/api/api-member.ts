/**
 * What `/api/v1` needs from a member, and the clients that are connected to it, by their sessions.
 */
import { addressText, type Identity } from '@rookery/protocol';
import type { EndOutcome } from '../../driver/member-answers.js';
import { trafficOf } from '../../driver/member-answers.js';
import type { Asked } from '../../driver/peer-questions.js';
import type { ConnectionView, WordContext } from '../../net/four-letter/context.js';
import type { InnerClient, InnerStream } from '../../net/inner-stream.js';
import type { HotReport } from '../../pipeline/hot-requests.js';
import type { ReplicatedState } from '../../state/replicated-state.js';
import type { SessionId } from '../../state/txn.js';
import type { WatcherId, WatchTable } from '../../state/watches.js';

export interface ApiMember {
  /** The member, its counters and its connections, read at this moment. */
  context(): WordContext;
  /** What it has applied, to be read only; another object once a snapshot was installed. */
  readonly state: ReplicatedState;
  /** The table of watches at this member, to be read only. */
  readonly watches: WatchTable;
  /** The session's watcher in that table; undefined if it is not connected to this member. */
  watcherOf(session: SessionId): WatcherId | undefined;
  /** The identities of the session's client; undefined if it is not connected to this member. */
  identitiesOf(session: SessionId): readonly Identity[] | undefined;
  /** The session of a watcher; 0 if the watcher is gone. */
  sessionOf(watcher: WatcherId): SessionId;
  /** Which paths and sessions were asked for and asked most lately, at most `limit` of each. */
  hotRequests(limit: number): HotReport;
  /** Ends a session if this member leads. */
  expireSession(session: SessionId): EndOutcome;
  /** Asks another member for a caller. Resolves with JSON, or null if no answer comes. */
  askMember(id: number, asked: Asked): Promise<string | null>;
  /** A stream at its client port, from within the process. */
  openStream(client: InnerClient): InnerStream;
}

export { WATCH_MODES } from '../../driver/member-answers.js';

export type ClientsHere = ReadonlyMap<SessionId, ConnectionView>;

/** Takes a step for each connection, so an answer calls it once. */
export function clientsHere(member: ApiMember): ClientsHere {
  const clients = new Map<SessionId, ConnectionView>();
  for (const connection of member.context().connections()) {
    const { sessionId } = connection.stats;
    if (typeof sessionId === 'number' && sessionId !== 0) clients.set(sessionId, connection);
  }
  return clients;
}

/** `host:port`; '' for a client within the member itself; null if it is not connected here. */
export function addressOf(clients: ClientsHere, session: SessionId): string | null {
  const client = clients.get(session);
  if (client === undefined) return null;
  const { remoteAddress, remotePort } = client;
  return remoteAddress === '' ? '' : addressText(remoteAddress, remotePort);
}

/**
 * The clients that are connected to this member, by their sessions: what `/api/v1` tells of a
 * session beside what every member knows.
 */
export function connectionFacts(clients: ClientsHere, session: SessionId) {
  const client = clients.get(session);
  if (client === undefined) return null;
  return { address: addressOf(clients, session), ...trafficOf(client) };
}
