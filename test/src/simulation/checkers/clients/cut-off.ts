/**
 * Property: a member that has reached no quorum for longer than its bound answers no client.
 * Source: ARCHITECTURE.md, "Step-down" and "Sessions": H, the bound of every lease; Zab's leader
 * leases; ZOOKEEPER-1675.
 *
 * The bound is what a member may need by its own clock, the slowest that is allowed: H since its
 * last contact, what was on its way when it was cut off, and the heartbeat that notices. A request
 * that was sent after that and is answered all the same was answered by nobody's leave. (One sent
 * before may have waited in a client's buffer.)
 */
import { formatZxid } from '@rookery/protocol';
import {
  type Checker,
  type NewChecker,
  PropertyBroken,
  type RunFacts,
} from '../../contract/checker.js';
import type { Reply, SessionSeen } from '../../contract/history.js';
import type { Reach } from '../../contract/observation.js';
import { asked } from './part.js';

class CutOff implements Checker {
  readonly property = 'a cut-off member answers no client past its bound';
  readonly #quorum: number;
  readonly #boundMs: number;
  readonly #latencyMs: number;
  /** Since when a member has reached no quorum, by member; absent for those that do. */
  readonly #since = new Map<number, number>();
  readonly #members = new Map<number, number>();

  constructor({ members, peerTimeoutMs, heartbeatMs, clockDrift, latencyMaxMs }: RunFacts) {
    this.#quorum = Math.floor(members / 2) + 1;
    this.#boundMs = (peerTimeoutMs + 2 * heartbeatMs) * (1 + clockDrift) + 2 * latencyMaxMs;
    this.#latencyMs = latencyMaxMs;
  }

  onReach({ member, reaches, atMs }: Reach): void {
    if (reaches.length + 1 >= this.#quorum) this.#since.delete(member);
    else if (!this.#since.has(member)) this.#since.set(member, atMs);
  }

  onSession({ change, connection, member, atMs, client, order }: SessionSeen): void {
    if (change === 'disconnected' || change === 'closed') this.#members.delete(connection);
    if (change !== 'opened' && change !== 'resumed' && change !== 'expired') return;
    if (change !== 'expired') this.#members.set(connection, member);
    // When the handshake began is not recorded: its answer was on its way for a latency at most.
    if (this.#isPast(member, atMs - this.#latencyMs)) {
      this.#fail(member, `told client ${client} that its session is ${change} [${order}]`);
    }
  }

  onReply({ invocation, result, order }: Reply): void {
    if (this.#since.size === 0) return;
    const member = this.#members.get(invocation.connection) ?? 0;
    if (!this.#isPast(member, invocation.atMs)) return;
    this.#fail(member, `answered ${asked(invocation)}, at ${formatZxid(result.zxid)} [${order}]`);
  }

  #isPast(member: number, atMs: number): boolean {
    const since = this.#since.get(member);
    return since !== undefined && atMs > since + this.#boundMs;
  }

  #fail(member: number, what: string): never {
    const since = `without a quorum since ${this.#since.get(member)} ms`;
    throw new PropertyBroken(this.property, `member ${member}, ${since}, ${what}`);
  }
}

export const newCutOff: NewChecker = (facts) => new CutOff(facts);
