/**
 * Bounds the sessions per address that have lost their connection and not yet expired.
 *
 * Each takes memory on every member. At the bound, new sessions from the address are refused here;
 * resuming a session is never refused. A session that was resumed at another member counts until
 * its timeout has passed, because this member does not learn of that. Loopback addresses, behind
 * which a proxy may hide any number of clients, and connections of this process are exempt. Covers
 * the sessions of one role; called by Pipeline.
 */
import { addressGroup, isLoopbackAddress } from '../security/address-group.js';
import type { SessionId } from '../state/txn.js';

interface Group {
  /** When the timeout of each has passed. */
  readonly untilMs: Map<SessionId, number>;
  /** The earliest of these times. */
  lookAtMs: number;
}

export class LeftSessions {
  readonly #perAddressMax: number;
  /** Only groups with such a session. */
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

  /** The session has lost its connection and lives on. */
  add(session: SessionId, from: { readonly address: string; readonly untilMs: number }): void {
    if (from.address === '' || isLoopbackAddress(from.address)) return;
    const name = addressGroup(from.address);
    const group = this.#groups.get(name) ?? { untilMs: new Map(), lookAtMs: from.untilMs };
    this.#groups.set(name, group);
    group.untilMs.set(session, from.untilMs);
    group.lookAtMs = Math.min(group.lookAtMs, from.untilMs);
    this.#groupOf.set(session, name);
  }

  /** The session has ended or has a connection again. Ignores unknown sessions. */
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
