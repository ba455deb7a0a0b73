/**
 * The sessions that clients have left: their connections are gone, and they exist until their
 * timeout is over, unless their clients come back.
 *
 * Each takes memory of every member, so an address that opens sessions and drops their connections
 * again and again has a bound: with so many left, it gets no further session here. Whoever comes
 * back to a session is let in. A session that was resumed at another member counts until its
 * timeout is over, as this member does not hear of that. Not bounded are loopback addresses, behind
 * which a proxy may hide any number of clients, and connections of this process. It knows the
 * sessions of one role; Pipeline calls it.
 */
import { addressGroup, isLoopbackAddress } from '../security/address-group.js';
import type { SessionId } from '../state/txn.js';

interface Group {
  /** When the timeout of each is over. */
  readonly untilMs: Map<SessionId, number>;
  /** Before this time, the timeout of none is over. */
  lookAtMs: number;
}

export class LeftSessions {
  readonly #perAddressMax: number;
  /** Only groups that have left a session. */
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<SessionId, string>();

  constructor(perAddressMax: number) {
    this.#perAddressMax = perAddressMax;
  }

  get count(): number {
    return this.#groupOf.size;
  }

  /** Whether a client at this address is refused a new session. */
  areTooMany(address: string, nowMs: number): boolean {
    if (this.#groups.size === 0) return false;
    const group = this.#groups.get(addressGroup(address));
    if (group === undefined || group.untilMs.size < this.#perAddressMax) return false;
    if (nowMs >= group.lookAtMs) this.#look(group, nowMs);
    return group.untilMs.size >= this.#perAddressMax;
  }

  /** The connection of a session that goes on is gone. */
  add(session: SessionId, from: { readonly address: string; readonly untilMs: number }): void {
    if (from.address === '' || isLoopbackAddress(from.address)) return;
    const name = addressGroup(from.address);
    const group = this.#groups.get(name) ?? { untilMs: new Map(), lookAtMs: from.untilMs };
    this.#groups.set(name, group);
    group.untilMs.set(session, from.untilMs);
    group.lookAtMs = Math.min(group.lookAtMs, from.untilMs);
    this.#groupOf.set(session, name);
  }

  /** The session has ended, or has a connection again. Ignores others. */
  delete(session: SessionId): void {
    const name = this.#groupOf.get(session);
    if (name === undefined) return;
    this.#groupOf.delete(session);
    const group = this.#groups.get(name);
    if (group?.untilMs.delete(session) === true && group.untilMs.size === 0) {
      this.#groups.delete(name);
    }
  }

  /** The role has ended. */
  clear(): void {
    this.#groups.clear();
    this.#groupOf.clear();
  }

  #look(group: Group, nowMs: number): void {
    group.lookAtMs = Number.POSITIVE_INFINITY;
    for (const [session, untilMs] of group.untilMs) {
      if (untilMs > nowMs) group.lookAtMs = Math.min(group.lookAtMs, untilMs);
      else this.delete(session);
    }
  }
}
