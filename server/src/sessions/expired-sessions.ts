/**
 * The sessions that have expired since the leader last logged them: all of them are counted, and
 * the first few are described. Called by RequestPreparer.
 */
import type { PeerId } from '@rookery/protocol';
import type { ExpiredLease } from './leases.js';

export interface ExpiredSession extends ExpiredLease {
  /** The member that served the session last; null if none did in this leader's term. */
  readonly member: PeerId | null;
  /**
   * The number of ephemerals that it owns once all that is in flight is applied; they end with it.
   */
  readonly ephemerals: number;
}

export interface ExpiredSessions {
  /** All of them, also those that are not described. */
  readonly count: number;
  /** The first NAMED_MAX of them. */
  readonly sessions: readonly ExpiredSession[];
}

export const NAMED_MAX = 10;

export class ExpiredSessionNotes {
  #count = 0;
  #sessions: ExpiredSession[] = [];

  add(session: ExpiredSession): void {
    this.#count += 1;
    if (this.#sessions.length < NAMED_MAX) this.#sessions.push(session);
  }

  /** Null if no session has expired since the last call. */
  take(): ExpiredSessions | null {
    if (this.#count === 0) return null;
    const taken = { count: this.#count, sessions: this.#sessions };
    this.#count = 0;
    this.#sessions = [];
    return taken;
  }
}
