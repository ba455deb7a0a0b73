/**
 * The sessions of the ensemble from which this member has heard since its last report to the
 * leader.
 *
 * Each is in it once, however many requests it sent. It owns only the list; the connections know
 * whether they are in it. A local session is touched here and now, because no leader knows it.
 * Called by Pipeline.
 */
import type { SessionId } from '../state/txn.js';
import type { Connection, Connections } from './connection.js';
import { isLocalId, type LocalSessions } from './local-sessions.js';

export class Touches {
  readonly #local: LocalSessions;
  #heard: SessionId[] = [];

  constructor(local: LocalSessions) {
    this.#local = local;
  }

  /**
   * Counts the session as heard from if bytes have come from its client since the last call, or if
   * the connection is not read at present: this member cannot know then whether any have come. That
   * a request is taken in does not suffice, because it may have been read ahead long before.
   *
   * Called when a request of the connection is taken in, and regularly while the connection waits
   * because of `requestsPerSecondMax`, but not while it waits only for something else.
   */
  maybeHeard(connection: Connection): void {
    // A connection that is joining has no session yet, whatever it asks for.
    if (connection.phase !== 'live' || !connection.channel.takeHeard()) return;
    if (isLocalId(connection.session)) return this.#local.touch(connection.session);
    if (connection.touched) return;
    connection.touched = true;
    this.#heard.push(connection.session);
  }

  /** Returns the sessions heard from since the last call; `live` has those that are served. */
  take(live: Connections): readonly SessionId[] {
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
