/**
 * Knows which attachment serves which session, as the leader decides it; in memory only.
 *
 * A member numbers the connections by which it asks for sessions, so an attachment is a member and
 * a number. A session that comes back to a member by a new connection is attached anew, and what
 * its older connection there still sends can be told apart. After a change of leader this is empty:
 * every client connection was closed, so each session attaches anew before its next request. It
 * never looks at passwords or leases. Called by RequestPreparer.
 */
import type { PeerId } from '@rookery/protocol';
import type { SessionId } from '../state/txn.js';

export interface Attachment {
  readonly member: PeerId;
  /** 0 for a member that does not send it; its attachments cannot be told apart. */
  readonly number: number;
}

export class Ownership {
  readonly #newest = new Map<SessionId, Attachment>();

  /** The member that serves the session; null if it has not been attached in this term. */
  memberOf(session: SessionId): PeerId | null {
    return this.#newest.get(session)?.member ?? null;
  }

  /** Whether this member serves the session, by whatever connection. */
  isAt(session: SessionId, member: PeerId): boolean {
    return this.#newest.get(session)?.member === member;
  }

  isNewest(session: SessionId, member: PeerId, attachment: number): boolean {
    const newest = this.#newest.get(session);
    return newest?.member === member && newest.number === attachment;
  }

  /** Returns the former attachment if there was one, whose connection must be closed. */
  attach(session: SessionId, to: Attachment): Attachment | undefined {
    const before = this.#newest.get(session);
    this.#newest.set(session, to);
    return before;
  }

  *ownedBy(member: PeerId): Iterable<SessionId> {
    for (const [session, newest] of this.#newest) if (newest.member === member) yield session;
  }

  remove(session: SessionId): void {
    this.#newest.delete(session);
  }
}
