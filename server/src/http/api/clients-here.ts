/**
 * The clients that are connected to this member, by their sessions: what `/api/v1` tells of a
 * session beside what every member knows.
 */
import { addressText } from '@rookery/protocol';
import { trafficOf } from '../../driver/session-answer.js';
import type { ConnectionView } from '../../net/four-letter/context.js';
import type { SessionId } from '../../state/txn.js';
import type { ApiMember } from './api-member.js';

export { WATCH_MODES } from '../../driver/session-answer.js';

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

export function connectionFacts(clients: ClientsHere, session: SessionId) {
  const client = clients.get(session);
  if (client === undefined) return null;
  return { address: addressOf(clients, session), ...trafficOf(client) };
}
