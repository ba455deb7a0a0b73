/**
 * Property: no session ends before its timeout has passed since it was last heard from, and none is
 * reported as expired that was not closed. Source: docs/architecture/sessions.md; ZOOKEEPER-1208,
 * 919.
 *
 * An expiry (a closeSession that nobody requested, or the beginClose that precedes it) is applied
 * after the leader decided on it, so when it is first applied at least the timeout must have passed
 * since the client sent the last request that was answered, on clocks that run at most `clockDrift`
 * too fast. Replies that come later count too: a request that was answered was heard, unless its
 * client had been silent for too long. A client is told that a session is over only after its
 * closeSession, and nothing is answered in a session once its end is decided.
 */
import { formatZxid } from '@rookery/protocol';
import {
  type Checker,
  type NewChecker,
  PropertyBroken,
  type RunFacts,
} from '../../contract/checker.js';
import type { Reply, SessionSeen } from '../../contract/history.js';
import type { Applied } from '../../contract/observation.js';
import { LastHeard } from './last-heard.js';

interface Lease {
  readonly session: number;
  timeoutMs: number;
  readonly heard: LastHeard;
}

class Expiry implements Checker {
  readonly property = 'no session expires early';
  readonly #drift: number;
  readonly #toldWithinMs: number;
  /** By session; those of clients that have continued with their next session are forgotten. */
  readonly #leases = new Map<number, Lease>();
  readonly #current = new Map<number, number>();
  /** When the end was first applied, by session, and whether nobody had requested it. */
  readonly #ended = new Map<number, { readonly atMs: number; readonly isExpiry: boolean }>();
  /** The zxid of each beginClose. */
  readonly #begun = new Map<number, number>();
  readonly #closed = new Set<number>();
  #lastZxid = 0;

  constructor({ clockDrift, peerTimeoutMs }: RunFacts) {
    this.#drift = clockDrift;
    this.#toldWithinMs = 2 * peerTimeoutMs;
  }

  onSession(seen: SessionSeen): void {
    const { session, change, client, timeoutMs, order } = seen;
    if (change === 'opened' || change === 'resumed') {
      this.#forget(client, session);
      const lease = this.#leases.get(session) ?? this.#newLease(session, timeoutMs);
      lease.timeoutMs = timeoutMs;
      this.#leases.set(session, lease);
      this.#onAnswered(lease, seen.askedAtMs);
    }
    if ((change !== 'expired' && change !== 'closed') || this.#closed.has(session)) return;
    const who = `client ${client} was told that session ${formatZxid(session)} is ${change}`;
    this.#fail(`${who}, whose close nobody has applied [${order}]`);
  }

  onReply({ invocation, result, order }: Reply): void {
    const { session, atMs } = invocation;
    const begun = this.#begun.get(session);
    if (begun !== undefined && result.zxid >= begun) {
      const what = `was answered at ${formatZxid(result.zxid)} [${order}]`;
      this.#fail(`session ${formatZxid(session)}, closing since ${formatZxid(begun)}, ${what}`);
    }
    const lease = this.#leases.get(session);
    if (lease === undefined || atMs <= lease.heard.atMs) return;
    this.#onAnswered(lease, atMs);
  }

  onApplied({ zxid, txn, atMs }: Applied): void {
    if (zxid <= this.#lastZxid) return;
    this.#lastZxid = zxid;
    const { kind } = txn.op;
    if (kind === 'beginClose') this.#begun.set(txn.session, zxid);
    else if (kind === 'closeSession') this.#closed.add(txn.session);
    else return;
    // The first of them shows who requested it: another leader may have decided the second.
    if (this.#ended.has(txn.session)) return;
    const isExpiry = txn.origin === 0;
    this.#ended.set(txn.session, { atMs, isExpiry });
    const lease = this.#leases.get(txn.session);
    if (isExpiry && lease !== undefined) this.#check(lease, atMs);
  }

  #onAnswered(lease: Lease, sentAtMs: number): void {
    lease.heard.hear(sentAtMs);
    const ended = this.#ended.get(lease.session);
    if (ended?.isExpiry === true) this.#check(lease, ended.atMs);
  }

  #newLease(session: number, timeoutMs: number): Lease {
    const heard = new LastHeard({ timeoutMs, toldWithinMs: this.#toldWithinMs });
    return { session, timeoutMs, heard };
  }

  #check({ session, timeoutMs, heard }: Lease, endedAtMs: number): void {
    const heardAtMs = heard.atMs;
    if (heardAtMs === 0 || endedAtMs - heardAtMs >= timeoutMs / (1 + this.#drift)) return;
    this.#fail(
      `session ${formatZxid(session)} with a timeout of ${timeoutMs} ms was ended at ` +
        `${endedAtMs}, ${endedAtMs - heardAtMs} ms after it sent what was answered`,
    );
  }

  #forget(client: number, session: number): void {
    const before = this.#current.get(client);
    if (before === session) return;
    if (before !== undefined) this.#leases.delete(before);
    this.#current.set(client, session);
  }

  #fail(what: string): never {
    throw new PropertyBroken(this.property, what);
  }
}

export const newExpiry: NewChecker = (facts) => new Expiry(facts);
