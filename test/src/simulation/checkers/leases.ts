/**
 * Property: a leader ends a session when, by its own clock while it ran, the session's lease has
 * expired. Source: docs/architecture/sessions.md; ZOOKEEPER-1208, 1622.
 *
 * It must not be earlier than the timeout and 2H after the leader began to lead, after the session
 * was opened, and after the leader answered the session itself, nor than the timeout after any
 * answered request was sent. What other members heard may reach it 2H late, and what a member heard
 * whose link it loses, never: sessions of that member count as heard from at that moment. It must
 * not be much later either: a silent session ends. A client that resumes a session unnoticed renews
 * its lease, so that is checked only for sessions of which no client was ever told, and for those
 * whose client is connected, has all its answers, sends nothing, and has never given up a handshake
 * that may still be in flight. Their end must be decided by H after the deadline: whatever a client
 * requests later than that is applied after it.
 */
import { epochOf, formatZxid, type PeerId, type Zxid } from '@rookery/protocol';
import {
  type Checker,
  type NewChecker,
  PropertyBroken,
  type RunFacts,
} from '../contract/checker.js';
import type { Invocation, Reply, SessionSeen, Unanswered } from '../contract/history.js';
import type { Applied, Gone, Started, Step } from '../contract/observation.js';
import { LastHeard } from './clients/last-heard.js';
import { isWrite } from './clients/part.js';
import { RunningTime } from './running-time.js';

interface Lease {
  readonly session: number;
  readonly timeoutMs: number;
  readonly openedAtMs: number;
  /** The member to which its client is connected; 0: none; -1: no client was told of it. */
  member: PeerId | -1;
  /** When its client heard that this member serves it. */
  attachedAtMs: number;
  outstanding: number;
  readonly heard: LastHeard;
  /** When the last request that has been answered was sent to the leader itself, in time. */
  ledAtMs: number;
  /** When the leader lost its link with the member to which the client was connected. */
  lostAtMs: number;
  /** What the leader had proposed by then: it decided that before it lost the link. */
  lostAfter: Zxid;
  /** When its client last received anything. */
  quietSinceMs: number;
  /** A handshake was given up and may be carried out at any time, which renews the lease. */
  mayBeResumedUnseen: boolean;
  /** Since when its end must have been decided; 0 while it need not be. */
  overdueAtMs: number;
}

interface Term {
  readonly leader: PeerId;
  readonly epoch: number;
  readonly sinceMs: number;
  /** When the member last lost a link: what it heard then counts as heard. */
  lostLinkAtMs: number;
  /** The last transaction that the leader has proposed; 0 for none. */
  proposed: Zxid;
}

/** Sessions expire at most this long after their deadline: pipeline/request-preparer.ts. */
const BUCKET_MS = 100;
/** How often silent sessions are searched, in ticks of the leader. */
const TICKS_PER_LOOK = 10;

class Leases implements Checker {
  readonly property =
    'a session is ended when its lease has run out by its leader, neither early nor late';
  readonly #slackMs: number;
  readonly #toleranceMs: number;
  readonly #lateMs: number;
  readonly #running: RunningTime;
  readonly #leases = new Map<number, Lease>();
  readonly #overdue = new Set<Lease>();
  #term: Term | null = null;
  #lastZxid: Zxid = 0;
  #ticks = 0;

  constructor({ members, peerTimeoutMs, heartbeatMs }: RunFacts) {
    this.#slackMs = 2 * peerTimeoutMs;
    this.#toleranceMs = 2 * heartbeatMs;
    this.#lateMs = peerTimeoutMs + BUCKET_MS + 4 * heartbeatMs;
    this.#running = new RunningTime(members, heartbeatMs);
  }

  onStarted({ member }: Started): void {
    this.#running.restart(member);
  }

  onGone({ member }: Gone): void {
    if (this.#term?.leader === member) this.#term = null;
  }

  onStep(seen: Step): void {
    const { input, outputs, member, atMs } = seen;
    const isTick = input.kind === 'tick' || input.kind === 'clockJumped';
    if (isTick) this.#running.tick(member, atMs, input.nowMs);
    const term = this.#term;
    if (term?.leader === member) {
      if (input.kind === 'disconnected') {
        term.lostLinkAtMs = atMs;
        this.#onMemberLost(term, input.peer);
      }
      if (isTick && ++this.#ticks % TICKS_PER_LOOK === 0) this.#look(term, atMs);
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind === 'disconnect' && this.#term?.leader === member) {
        this.#term.lostLinkAtMs = atMs;
      } else if (output?.kind === 'append' && this.#term?.leader === member) {
        this.#term.proposed = output.batch.last;
      } else if (output?.kind === 'role') {
        if (this.#term?.leader === member) this.#term = null;
        if (output.role === 'leading') this.#onLeads(member, output.epoch, atMs);
      }
    }
  }

  onApplied({ zxid, txn, atMs }: Applied): void {
    if (zxid <= this.#lastZxid) return;
    this.#lastZxid = zxid;
    if (txn.op.kind === 'createSession') {
      this.#leases.set(zxid, {
        session: zxid,
        timeoutMs: txn.op.timeoutMs,
        openedAtMs: atMs,
        member: -1,
        attachedAtMs: 0,
        outstanding: 0,
        ledAtMs: 0,
        lostAtMs: 0,
        lostAfter: 0,
        heard: new LastHeard({ timeoutMs: txn.op.timeoutMs, toldWithinMs: this.#slackMs }),
        quietSinceMs: atMs,
        overdueAtMs: 0,
        mayBeResumedUnseen: false,
      });
    } else if (txn.op.kind === 'beginClose' || txn.op.kind === 'closeSession') {
      const lease = this.#leases.get(txn.session);
      if (lease === undefined) return;
      this.#leases.delete(txn.session);
      this.#overdue.delete(lease);
      if (txn.origin === 0) this.#onExpiry(lease, zxid, atMs);
    }
  }

  onInvocation({ session }: Invocation): void {
    const lease = this.#leases.get(session);
    if (lease === undefined) return;
    lease.outstanding += 1;
    this.#overdue.delete(lease);
  }

  onReply({ invocation, result, atMs }: Reply): void {
    if (this.#overdue.size > 0) this.#maybeTooLate(invocation, result.zxid);
    const lease = this.#leases.get(invocation.session);
    if (lease === undefined) return;
    lease.outstanding -= 1;
    lease.quietSinceMs = atMs;
    lease.heard.hear(invocation.atMs);
    if (lease.member !== this.#term?.leader) return;
    // The leader, too, records its own clients' activity with its heartbeats.
    if (invocation.atMs <= lease.heard.atMs) lease.ledAtMs = invocation.atMs;
  }

  onUnanswered({ invocation }: Unanswered): void {
    const lease = this.#leases.get(invocation.session);
    if (lease !== undefined) lease.outstanding -= 1;
  }

  onSession({ session, change, member, askedAtMs, atMs }: SessionSeen): void {
    const lease = this.#leases.get(session);
    if (lease === undefined) return;
    lease.member = member;
    // Where it was attached when a link was lost is certain only if it has asked nobody else.
    if (change !== 'disconnected') lease.lostAtMs = 0;
    if (change === 'abandoned') lease.mayBeResumedUnseen = true;
    if (change === 'opened' || change === 'resumed') {
      lease.heard.hear(askedAtMs);
      lease.attachedAtMs = askedAtMs;
    }
    lease.quietSinceMs = atMs;
    this.#overdue.delete(lease);
  }

  #onLeads(leader: PeerId, epoch: number, atMs: number): void {
    this.#term = { leader, epoch, sinceMs: atMs, lostLinkAtMs: atMs, proposed: 0 };
    this.#overdue.clear();
  }

  #onMemberLost({ sinceMs, lostLinkAtMs, proposed }: Term, peer: PeerId): void {
    for (const lease of this.#leases.values()) {
      if (lease.member !== peer || lease.mayBeResumedUnseen) continue;
      if (lease.attachedAtMs <= sinceMs) continue;
      lease.lostAtMs = lostLinkAtMs;
      lease.lostAfter = proposed;
    }
  }

  /** The leader of its epoch decided it: once that leader is gone, nobody can say when. */
  #onExpiry(lease: Lease, zxid: Zxid, atMs: number): void {
    const term = this.#term;
    if (term?.epoch !== epochOf(zxid)) return;
    const { timeoutMs, session, ledAtMs, lostAtMs, lostAfter, heard } = lease;
    const fullMs = timeoutMs + this.#slackMs;
    if (epochOf(session) < term.epoch) {
      this.#expectRun(lease, fullMs, term.sinceMs, 'it began to lead', atMs);
    }
    if (ledAtMs > term.sinceMs) this.#expectRun(lease, fullMs, ledAtMs, 'it answered it', atMs);
    if (lostAtMs > term.sinceMs && zxid > lostAfter) {
      this.#expectRun(lease, fullMs, lostAtMs, 'it lost the member that served it', atMs);
    }
    if (heard.atMs <= term.sinceMs) return;
    this.#expectRun(lease, timeoutMs, heard.atMs, 'it was heard of', atMs);
  }

  #expectRun(lease: Lease, ms: number, sinceMs: number, since: string, atMs: number): void {
    const leader = this.#term?.leader ?? 0;
    const ranMs = this.#running.between(leader, sinceMs, atMs);
    if (ranMs + this.#toleranceMs >= ms) return;
    const what = `ended ${this.#describe(lease)}, having run for ${ranMs} ms of ${ms}`;
    throw new PropertyBroken(this.property, `leader ${leader} ${what} since ${since} [${atMs} ms]`);
  }

  #look(term: Term, atMs: number): void {
    for (const lease of this.#leases.values()) {
      if (lease.member === 0 || lease.mayBeResumedUnseen) continue;
      if (lease.outstanding !== 0 || this.#overdue.has(lease)) continue;
      const sinceMs = Math.max(lease.quietSinceMs, term.sinceMs, term.lostLinkAtMs);
      const ranMs = this.#running.between(term.leader, sinceMs, atMs);
      if (ranMs <= lease.timeoutMs + this.#slackMs + this.#lateMs) continue;
      lease.overdueAtMs = atMs;
      this.#overdue.add(lease);
    }
  }

  /** A write that was requested after the end was decided is applied after it. */
  #maybeTooLate({ operation, order, atMs }: Invocation, zxid: Zxid): void {
    if (!isWrite(operation) || epochOf(zxid) !== this.#term?.epoch) return;
    for (const lease of this.#overdue) {
      if (atMs <= lease.overdueAtMs) continue;
      const quiet = `silent since ${lease.quietSinceMs} ms`;
      const what = `${this.#describe(lease)}, ${quiet}, is not ended before ${formatZxid(zxid)}`;
      const asked = `which was asked for at ${atMs} ms [${order}]`;
      throw new PropertyBroken(this.property, `${what}, ${asked}`);
    }
  }

  #describe({ session, timeoutMs, member }: Lease): string {
    const where = member === -1 ? 'of which no client was told' : `at member ${member}`;
    return `session ${formatZxid(session)} ${where} with a timeout of ${timeoutMs} ms`;
  }
}

export const newLeases: NewChecker = (facts) => new Leases(facts);
