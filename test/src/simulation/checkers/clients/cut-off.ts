/**
 * Property: a member that has reached no quorum for longer than its bound answers no client.
 * Source: docs/architecture/core.md, "Step-down", and docs/architecture/sessions.md, which defines
 * H; Zab's leader leases; ZOOKEEPER-1675.
 *
 * A leader may serve for H after its quorum last answered, and a follower for H after a leader that
 * may still serve: it need reach nobody else, so a follower on one side of a bridge serves through
 * it. H is measured by the member's own clock, at the slowest rate that is allowed, with the delay
 * of messages in flight and of the heartbeat that notices. A request that was sent after that and
 * is still answered was answered without any lease. (One sent before may have waited in a client's
 * buffer.) A member that reaches a quorum again after its bound has closed its clients' connections
 * meanwhile, or does so before anything else: old connections receive nothing more. A stalled
 * member reaches nobody. A member that notices that its clock stood still may keep its role and its
 * connections, unless another one has led meanwhile. What a member had sent while only its way out
 * was cut counts once it arrives, from when it was sent.
 */
import { formatZxid } from '@rookery/protocol';
import {
  type Checker,
  type NewChecker,
  PropertyBroken,
  type RunFacts,
} from '../../contract/checker.js';
import type { Reply, SessionSeen } from '../../contract/history.js';
import type { LateArrival, Reach, Step } from '../../contract/observation.js';
import { asked } from './part.js';

class CutOff implements Checker {
  readonly property = 'a cut-off member answers no client past its bound';
  readonly #quorum: number;
  /** H. */
  readonly #leaseMs: number;
  /** The answer to a handshake is in flight for at most this time. */
  readonly #answerMaxMs: number;
  /** The members that each member reaches at present. */
  readonly #reaches = new Map<number, readonly number[]>();
  /** When each member last reached a quorum by itself; infinity while it does. */
  readonly #quorumUntilMs = new Map<number, number>();
  /** When each member last reached each of the others; infinity while it does. */
  readonly #contactUntilMs = new Map<number, Map<number, number>>();
  /** Whether some member does not reach a quorum by itself. */
  #someoneIsCutOff = false;
  /** The member of each connection. */
  readonly #members = new Map<number, number>();
  /** The bound that a connection has outlived. */
  readonly #outlived = new Map<number, number>();
  /** The epoch of each member's newest role, and the newest in which a member has led. */
  readonly #epochs = new Map<number, number>();
  #ledEpoch = 0;
  /** Members whose clock stood still during their role, when nobody else had led. */
  readonly #goesOn = new Set<number>();

  constructor(facts: RunFacts) {
    const { members, peerTimeoutMs, heartbeatMs, clockDrift, latencyMaxMs } = facts;
    this.#quorum = Math.floor(members / 2) + 1;
    this.#leaseMs = (peerTimeoutMs + 2 * heartbeatMs) * (1 + clockDrift) + 2 * latencyMaxMs;
    this.#answerMaxMs = latencyMaxMs + (facts.clientsHeldMaxMs ?? 0);
  }

  onReach({ member, reaches, late, atMs }: Reach): void {
    const before = this.#reaches.get(member) ?? [];
    if (this.#isPast(member, atMs) && !this.#goesOn.has(member)) this.#outlive(member);
    this.#reaches.set(member, reaches);
    const contacts = this.#contactUntilMs.get(member) ?? new Map<number, number>();
    this.#contactUntilMs.set(member, contacts);
    for (const other of before) contacts.set(other, atMs);
    for (const other of reaches) contacts.set(other, Number.POSITIVE_INFINITY);
    const isQuorum = reaches.length + 1 >= this.#quorum;
    if (isQuorum) this.#quorumUntilMs.set(member, Number.POSITIVE_INFINITY);
    else if (before.length + 1 >= this.#quorum) this.#quorumUntilMs.set(member, atMs);
    if (late !== undefined) this.#onLate(member, late, contacts);
    this.#someoneIsCutOff = [...this.#reaches.values()].some(
      (reached) => reached.length + 1 < this.#quorum,
    );
  }

  onStep({ member, input, outputs }: Step): void {
    if (input.kind === 'clockJumped') this.#onJump(member);
    for (const output of outputs) {
      if (output.kind !== 'role') continue;
      this.#goesOn.delete(member);
      this.#epochs.set(member, output.epoch);
      if (output.role === 'leading') this.#ledEpoch = Math.max(this.#ledEpoch, output.epoch);
    }
  }

  #onJump(member: number): void {
    if (this.#ledEpoch > (this.#epochs.get(member) ?? 0)) return;
    this.#goesOn.add(member);
    for (const [connection, at] of this.#members) {
      if (at === member) this.#outlived.delete(connection);
    }
  }

  /** Answers to pings prolong a lease from when they were sent, however late they arrive. */
  #onLate(member: number, late: LateArrival, contacts: Map<number, number>): void {
    const { from, heardMs } = late;
    contacts.set(from, Math.max(heardMs, contacts.get(from) ?? heardMs));
    const reached = new Set([...(this.#reaches.get(member) ?? []), from]).size + 1;
    if (reached < this.#quorum) return;
    this.#quorumUntilMs.set(member, Math.max(heardMs, this.#quorumEndMs(member)));
  }

  onSession(seen: SessionSeen): void {
    const { change, connection, member, askedAtMs, atMs, client, order } = seen;
    if (change === 'disconnected' || change === 'closed') this.#forget(connection);
    if (change !== 'opened' && change !== 'resumed' && change !== 'expired') return;
    if (change !== 'expired') this.#members.set(connection, member);
    // It was answered after it was requested, and not longer ago than an answer may be in flight.
    if (this.#isPast(member, Math.max(askedAtMs, atMs - this.#answerMaxMs))) {
      this.#fail(member, `told client ${client} that its session is ${change} [${order}]`);
    }
  }

  onReply({ invocation, result, order }: Reply): void {
    const { connection, atMs } = invocation;
    const isOutlived = atMs > (this.#outlived.get(connection) ?? Number.POSITIVE_INFINITY);
    if (!this.#someoneIsCutOff && !isOutlived) return;
    const member = this.#members.get(connection) ?? 0;
    if (!isOutlived && !this.#isPast(member, atMs)) return;
    this.#fail(member, `answered ${asked(invocation)}, at ${formatZxid(result.zxid)} [${order}]`);
  }

  #outlive(member: number): void {
    const boundMs = this.#boundMs(member);
    for (const [connection, at] of this.#members) {
      if (at === member && !this.#outlived.has(connection)) this.#outlived.set(connection, boundMs);
    }
  }

  #forget(connection: number): void {
    this.#members.delete(connection);
    this.#outlived.delete(connection);
  }

  #isPast(member: number, atMs: number): boolean {
    return this.#reaches.has(member) && atMs > this.#boundMs(member);
  }

  /**
   * The end of its own lease as a leader, or of the last lease that any leader may have granted it.
   */
  #boundMs(member: number): number {
    let boundMs = this.#quorumEndMs(member) + this.#leaseMs;
    for (const [other, contactMs] of this.#contactUntilMs.get(member) ?? []) {
      const givenMs = Math.min(this.#quorumEndMs(other) + this.#leaseMs, contactMs);
      boundMs = Math.max(boundMs, givenMs + this.#leaseMs);
    }
    return boundMs;
  }

  #quorumEndMs(member: number): number {
    return this.#quorumUntilMs.get(member) ?? Number.NEGATIVE_INFINITY;
  }

  #fail(member: number, what: string): never {
    throw new PropertyBroken(
      this.property,
      `member ${member}, whose last lease had ended, ${what}`,
    );
  }
}

export const newCutOff: NewChecker = (facts) => new CutOff(facts);
