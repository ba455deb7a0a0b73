/**
 * The last time at which the session was known to be alive: when the last request was sent that a
 * member with a quorum has answered.
 *
 * Answers of a member without a quorum do not count, because the other members may expire the
 * session meanwhile; ZooKeeper's read-only members even let such a session be resumed. Within a
 * session the time never decreases.
 */
import type { Connection } from './connection.js';

export class Contact {
  #lastAnsweredMs = Number.NEGATIVE_INFINITY;
  /** The current connection, or null if its answers do not count. */
  #connection: Connection | null = null;

  get lastAnsweredMs(): number {
    const presentMs = this.#connection?.lastAnsweredMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#lastAnsweredMs, presentMs);
  }

  /**
   * Whether `timeoutMs` have passed since then. No server expires a session before that. True while
   * nothing is known of a contact, as for a session to be resumed.
   */
  isPast(timeoutMs: number, nowMs: number): boolean {
    return nowMs >= this.lastAnsweredMs + timeoutMs;
  }

  /** The latest time that an unread answer on the current connection can prove. */
  get provableMs(): number {
    const sentMs = this.#connection?.lastSentMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.lastAnsweredMs, sentMs);
  }

  /**
   * `provesLife`: whether an answer on this connection proves that the session is alive. For a
   * session without any earlier contact, the handshake counts in any case.
   */
  onConnected(connection: Connection, provesLife: boolean): void {
    const isFirst = this.#lastAnsweredMs === Number.NEGATIVE_INFINITY;
    if (isFirst) this.#lastAnsweredMs = connection.lastAnsweredMs;
    this.#connection = provesLife ? connection : null;
  }

  onDisconnected(): void {
    this.#lastAnsweredMs = this.lastAnsweredMs;
    this.#connection = null;
  }

  /** Called when the session is over. */
  reset(): void {
    this.#connection = null;
    this.#lastAnsweredMs = Number.NEGATIVE_INFINITY;
  }
}
