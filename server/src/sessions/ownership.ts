/**
 * Which member serves which session, as the leader decides it; in memory only.
 *
 * After a leader change it is empty: every client connection was closed, so each session attaches
 * anew before its next request. Never looks at passwords or leases. Called by Leadership.
 */
import type { PeerId } from '@rookery/protocol';
import type { SessionId } from '../state/txn.js';

export class Ownership {
  readonly #owners = new Map<SessionId, PeerId>();

  get count(): number {
    return this.#owners.size;
  }

  ownerOf(session: SessionId): PeerId | undefined {
    return this.#owners.get(session);
  }

  /** Returns the owner before, when that was another member: its connection must be closed. */
  move(session: SessionId, to: PeerId): PeerId | undefined {
    const before = this.#owners.get(session);
    this.#owners.set(session, to);
    return before === to ? undefined : before;
  }

  *ownedBy(member: PeerId): Iterable<SessionId> {
    for (const [session, owner] of this.#owners) if (owner === member) yield session;
  }

  remove(session: SessionId): void {
    this.#owners.delete(session);
  }
}
