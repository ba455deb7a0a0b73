/**
 * The sessions of the ensemble from which this member has heard since its last report to the
 * leader.
 *
 * Each is in it once, however many requests it sent. It owns only the list; the connections know
 * whether they are in it. A local session is touched here and now, because no leader knows it.
 * Called by Pipeline.
 */
import type { SessionId } from '../state/txn.js';
import type { Connection } from './connection.js';
import type { Connections } from './connections.js';
import { isLocalId, type LocalSessions } from './local-sessions.js';

export class Touches {
  readonly #local: LocalSessions;
  #heard: SessionId[] = [];

  constructor(local: LocalSessions) {
    this.#local = local;
  }

  /**
   * Called when a request of the connection is taken in, and regularly while the connection waits
   * because of `requestsPerSecondMax`, but not while it waits only for something else. After such a
   * wait, a request was read ahead and may have arrived long ago, so bytes must have come since the
   * last call. If the connection is not read when this is called, it counts as heard from,
   * because nobody can tell.
   */
  maybeHeard(connection: Connection): void {
    // One that is joining has no session yet, whatever it asks for.
    if (connection.phase !== 'live' || !connection.channel.takeHeard()) return;
    if (isLocalId(connection.session)) return this.#local.touch(connection.session);
    if (connection.touched) return;
    connection.touched = true;
    this.#heard.push(connection.session);
  }

  /** Returns the sessions heard from since the last call; `live` has those that are served. */
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
