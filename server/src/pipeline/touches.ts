/**
 * The sessions of the ensemble from which this member has heard since its last report to the
 * leader.
 *
 * Each is in it once, however many requests it sent. It owns only the list; the connections know
 * whether they are in it. Called by Pipeline.
 */
import type { SessionId } from '../state/txn.js';
import type { Connection } from './connection.js';
import type { Connections } from './connections.js';

export class Touches {
  #heard: SessionId[] = [];

  /** A request of a live connection came. */
  heard(connection: Connection): void {
    if (connection.touched) return;
    connection.touched = true;
    this.#heard.push(connection.session);
  }

  /** Returns the sessions heard from since the last call; `live` has those still served. */
  take(live: Pick<Connections, 'of'>): readonly SessionId[] {
    const heard = this.#heard;
    if (heard.length === 0) return heard;
    this.#heard = [];
    for (const session of heard) {
      const connection = live.of(session);
      if (connection !== undefined) connection.touched = false;
    }
    return heard;
  }

  clear(): void {
    this.#heard = [];
  }
}
