/**
 * Since when nobody can tell whether the session still lives: the time at which the last request
 * was sent that was answered by a member who can know.
 *
 * One without a quorum cannot know of a session of the ensemble, whatever it answers: the others
 * may expire it meanwhile (ZooKeeper's read-only members let such sessions be resumed). Never goes
 * back within a session.
 */
import type { Connection } from './connection.js';

export class Contact {
  #lastAnsweredMs = Number.NEGATIVE_INFINITY;
  /** The present one, if its answers count. */
  #connection: Connection | null = null;

  get lastAnsweredMs(): number {
    const presentMs = this.#connection?.lastAnsweredMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#lastAnsweredMs, presentMs);
  }

  /** The latest time that an unread answer on the present connection can prove. */
  get provableMs(): number {
    const sentMs = this.#connection?.lastSentMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.lastAnsweredMs, sentMs);
  }

  /** Of a session that nothing was known of before, at least its handshake counts. */
  onConnected(connection: Connection, canKnow: boolean): void {
    const isFirst = this.#lastAnsweredMs === Number.NEGATIVE_INFINITY;
    if (isFirst) this.#lastAnsweredMs = connection.lastAnsweredMs;
    this.#connection = canKnow ? connection : null;
  }

  onDisconnected(): void {
    this.#lastAnsweredMs = this.lastAnsweredMs;
    this.#connection = null;
  }

  /** The session is over. */
  reset(): void {
    this.#connection = null;
    this.#lastAnsweredMs = Number.NEGATIVE_INFINITY;
  }
}
