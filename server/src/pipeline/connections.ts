/**
 * The connections of one member by their numbers, and the live ones by their sessions.
 *
 * It is a map that caches the most recent result: frames come in chunks, so the next one is mostly
 * of the same connection. Owned by Pipeline, read by its parts.
 */

import type { SessionId } from '../state/txn.js';
import type { ConnectionId } from './client-channel.js';
import type { Connection } from './connection.js';

export class Connections {
  readonly #byId = new Map<ConnectionId, Connection>();
  readonly #bySession = new Map<SessionId, Connection>();
  #last: Connection | undefined;

  get(id: ConnectionId): Connection | undefined {
    if (this.#last?.id !== id) this.#last = this.#byId.get(id);
    return this.#last;
  }

  has(id: ConnectionId): boolean {
    return this.#byId.has(id);
  }

  /** `Connection.group`, and the users that it has proved to be. */
  groupsOf(id: ConnectionId): readonly string[] {
    const connection = this.#byId.get(id);
    if (connection === undefined) return [`connection ${id}`];
    const groups = [connection.group];
    for (const { scheme, id: user } of connection.requester.identities) {
      if (scheme !== 'ip') groups.push(`${scheme}:${user}`);
    }
    return groups;
  }

  /** The connection by which the session is served here. */
  of(session: SessionId): Connection | undefined {
    return this.#bySession.get(session);
  }

  /** From now on its session is served by this connection. */
  bind(connection: Connection): void {
    this.#bySession.set(connection.session, connection);
  }

  /** In the order in which they came. */
  values(): IterableIterator<Connection> {
    return this.#byId.values();
  }

  add(connection: Connection): void {
    this.#byId.set(connection.id, connection);
  }

  delete(connection: Connection): void {
    const { id, session } = connection;
    this.#byId.delete(id);
    this.#last = undefined;
    if (this.#bySession.get(session) === connection) this.#bySession.delete(session);
  }
}
