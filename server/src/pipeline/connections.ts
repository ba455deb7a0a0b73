/**
 * The connections of one member by their numbers.
 *
 * A map that caches the most recent result: frames come in chunks, so the next one is mostly of the
 * same connection. Owned by Pipeline, read by its parts.
 */
import type { Connection } from './connection.js';
import type { ConnectionId } from './output.js';

export class Connections {
  readonly #byId = new Map<ConnectionId, Connection>();
  #last: Connection | undefined;

  get(id: ConnectionId): Connection | undefined {
    if (this.#last?.id !== id) this.#last = this.#byId.get(id);
    return this.#last;
  }

  has(id: ConnectionId): boolean {
    return this.#byId.has(id);
  }

  /** In the order in which they came. */
  values(): IterableIterator<Connection> {
    return this.#byId.values();
  }

  add(connection: Connection): void {
    this.#byId.set(connection.id, connection);
  }

  delete(id: ConnectionId): void {
    this.#byId.delete(id);
    this.#last = undefined;
  }
}
