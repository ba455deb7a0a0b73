/**
 * The leader's authority over sessions: it owns their attachments, leases and ends. A request that
 * comes by the newest attachment of its session is passed to TxnPreparer, which decides it.
 *
 * The driver creates one when its member leads (its whole history applied) and drops it with the
 * role. All requests of all members pass through `onRequest` in the order of their arrival. The
 * transactions that are prepared go to the sink and are proposed completely, in that order. It
 * never does I/O and never reads a clock.
 */

import {
  type Attach,
  type Attached,
  assert,
  type ForwardedRequest,
  formatZxid,
  OpCode,
  type PeerId,
  type Zxid,
} from '@rookery/protocol';
import {
  ExpiredSessionNotes,
  type ExpiredSessions,
  Leases,
  Ownership,
} from '../sessions/leases.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { NodeAges } from '../state/tree.js';
import type { Acl, SessionId, Txn } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';
import type { RequestPreparerOptions } from './options.js';
import { TxnPreparer, type TxnSink } from './prepare.js';
import type { QuotaExcess } from './quota-guard.js';
import { Reaper } from './reaper.js';
import { sameBytes } from './same-bytes.js';
import { SessionEnds } from './session-ends.js';
import type { TreeRefusals } from './tree-room.js';

export type { TxnSink } from './prepare.js';

/**
 * An attachment of the session has ended, which the Detach tells its member (for the leader itself:
 * `Pipeline.onDetach`).
 */
export interface DetachOrder {
  readonly member: PeerId;
  readonly session: SessionId;
  readonly attachment: number;
  /** The number of the request that is dropped for this reason; 0 if there is none. */
  readonly request: number;
}

export interface LeaderTime {
  /** The time on the lease clock; see LeaseClock. */
  readonly nowMs: number;
  /** The time of a transaction, in ms since 1970; see TermTime. */
  readonly wallMs: number;
}

export interface RequestPreparerDependencies {
  readonly state: ReplicatedState;
  /** The ages with which TTLs are compared. */
  readonly ages: NodeAges;
  readonly options: RequestPreparerOptions;
  /** Returns 16 fresh random bytes: a session's password. */
  readonly random16: () => Uint8Array;
  /** Takes the transactions as they are prepared. */
  readonly sink: TxnSink;
}

/**
 * The width of a bucket of Leases: a session expires at the first tick after the end of the bucket
 * with its deadline, unless more are due than a tick may close.
 */
const LEASE_BUCKET_MS = 100;

export class RequestPreparer {
  readonly #prepare: TxnPreparer;
  readonly #leases: Leases;
  readonly #ownership = new Ownership();
  readonly #reaper: Reaper;
  readonly #ends: SessionEnds;
  readonly #random16: () => Uint8Array;
  #detaches: DetachOrder[] = [];
  /** The highest ensemble level that is reached or proposed. */
  #level: number;
  readonly #expiredNotes = new ExpiredSessionNotes();
  #expiredCount = 0;

  /** Each session that is not closing gets a fresh lease, from `time.nowMs` on. */
  constructor(dependencies: RequestPreparerDependencies, time: LeaderTime) {
    const { state, ages, options, random16, sink } = dependencies;
    this.#random16 = random16;
    this.#level = state.level;
    this.#prepare = new TxnPreparer(state, options, options, sink);
    this.#leases = new Leases({ slackMs: options.leaseSlackMs, bucketMs: LEASE_BUCKET_MS });
    this.#reaper = new Reaper({ state, ages }, options.reaper, time.nowMs);
    this.#ends = new SessionEnds(state, this.#prepare, options);
    for (const [session, { timeoutMs, isClosing }] of state.sessions.sorted()) {
      if (!isClosing) this.#leases.add(session, timeoutMs, time.nowMs);
    }
  }

  /** The last zxid that was assigned. */
  get lastZxid(): Zxid {
    return this.#prepare.zxids.last;
  }

  /**
   * The number of zxids that the epoch still has. When none is left, requests are dropped, because
   * the epoch must end.
   */
  get counterLeft(): number {
    return this.#prepare.zxids.left;
  }

  /** The number of sessions that have expired in this term, or were ended by `endLease`. */
  get expiredCount(): number {
    return this.#expiredCount;
  }

  /** The number of sessions for which `nextOfEnds` has something to prepare, now or later. */
  get endsWaiting(): number {
    return this.#ends.waiting;
  }

  /** Whether the session has a beginClose, so that its ephemerals are deleted before its close. */
  isClosing(session: SessionId): boolean {
    return this.#prepare.overlay.sessions.isClosing(session);
  }

  /** The number of operations in flight that change something, with opens and closes. */
  get overlaySize(): number {
    return this.#prepare.overlay.size;
  }

  /** The number of sessions with a lease. */
  get sessionCount(): number {
    return this.#leases.count;
  }

  /** When each session expires if nothing more is heard from it, on the lease clock. */
  deadlines(): ReturnType<Leases['deadlines']> {
    return this.#leases.deadlines();
  }

  /**
   * Has one request decided. If it did not come by its session's newest attachment it is dropped,
   * and a detach reports that: an attachment that has ended never becomes the newest again, so of
   * what one connection sent a prefix is executed and nothing after it.
   */
  onRequest(origin: PeerId, item: ForwardedRequest, time: LeaderTime): void {
    // The epoch is about to end, and every client connection with it. Until then all requests are
    // dropped, so none is executed after one that was dropped.
    if (this.counterLeft === 0) return;
    if (!this.#mayAsk(origin, item)) {
      const { session, attachment, request } = item;
      this.#detaches.push({ member: origin, session, attachment, request });
      return;
    }
    this.#prepareOne(origin, item, time);
  }

  /**
   * Prepares the next part of the end of a session with many ephemerals. Returns false if there is
   * nothing to do now.
   */
  nextOfEnds(time: LeaderTime): boolean {
    if (this.#ends.waiting === 0 || this.counterLeft === 0) return false;
    return this.#ends.next(time.wallMs);
  }

  /**
   * Answers an attach: valid if and only if the password is right and the session is alive, once
   * all creations and closes in flight are applied. From now on requests by an older attachment do
   * not count, whether it is of the same member or another one; the detach of that one must be sent
   * before the answer. While a `beginClose` is ending the session there is no answer, because its
   * close may not be committed: a detach ends the new connection instead.
   */
  onAttach(origin: PeerId, attach: Attach, time: LeaderTime): Attached | null {
    const { request, session } = attach;
    if (this.isClosing(session)) {
      this.#detaches.push({ member: origin, session, attachment: attach.attachment, request });
      return null;
    }
    const live = this.#prepare.liveSession(session);
    if (live === undefined || !sameBytes(live.password, attach.password)) {
      return { kind: 'attached', request, valid: false, timeoutMs: 0 };
    }
    this.#leases.touch(session, time.nowMs);
    const before = this.#ownership.attach(session, { member: origin, number: attach.attachment });
    if (before !== undefined) {
      const { member, number: attachment } = before;
      this.#detaches.push({ member, session, attachment, request: 0 });
    }
    // The timeout is replicated with the session, so that the next leader keeps it, too.
    return { kind: 'attached', request, valid: true, timeoutMs: live.timeoutMs };
  }

  /** The sessions must be owned by `origin`; a late report of an earlier owner is ignored. */
  onTouch(origin: PeerId, sessions: readonly SessionId[], time: LeaderTime): void {
    for (const session of sessions) {
      if (this.#ownership.isAt(session, origin)) this.#leases.touch(session, time.nowMs);
    }
  }

  /**
   * The link of a member was lost. The member may have answered clients until now without being
   * able to report it, so its sessions count as heard from: none expires too early, and at worst
   * later by the time that it took to notice the loss.
   */
  onMemberGone(member: PeerId, time: LeaderTime): void {
    for (const session of this.#ownership.ownedBy(member)) this.#leases.touch(session, time.nowMs);
  }

  /**
   * Ends the lease of this session before its deadline, because an operator wants it: the next tick
   * closes the session, unless the role ends before that. Returns false if the session has ended or
   * is ending already.
   */
  endLease(session: SessionId): boolean {
    return this.#leases.end(session);
  }

  /**
   * Closes sessions whose lease has expired, and deletes containers and TTL nodes that have become
   * due; at most `max` transactions in one call.
   */
  onTick(time: LeaderTime, max: number): void {
    const room = Math.min(max, this.counterLeft);
    const before = this.counterLeft;
    for (const lease of this.#leases.expired(time.nowMs, room)) {
      const { session } = lease;
      if (!this.#prepare.overlay.sessions.isLive(session)) continue;
      const member = this.#ownership.memberOf(session);
      const ephemerals = this.#prepare.overlay.ephemeralsOwned(session);
      this.#expiredNotes.add({ ...lease, member, ephemerals });
      this.#ends.end({ session, origin: 0, request: 0 }, time.wallMs);
      this.#expiredCount += 1;
    }
    for (const path of this.#reaper.due(time.nowMs, room - (before - this.counterLeft))) {
      this.#prepare.prepareReap(path, time.wallMs, this.#reaper.rules);
    }
  }

  /** Raises the ensemble level, unless that level, or a higher one, is reached or proposed. */
  raiseLevel(level: number, time: LeaderTime): void {
    if (level <= this.#level || this.counterLeft === 0) return;
    this.#level = level;
    this.#prepare.prepareRaise(level, time.wallMs);
  }

  /** Prepares the first transaction of an ensemble that begins with an ACL of its own. */
  foundEnsemble(acl: readonly Acl[], time: LeaderTime): void {
    assert(
      this.lastZxid === 0,
      () => `an ensemble at ${formatZxid(this.lastZxid)} is founded already`,
    );
    this.#prepare.prepareFounding(acl, time.wallMs);
  }

  /** Called after each `Pipeline.apply`, in order. */
  onApplied(zxid: Zxid, txn: Txn): void {
    this.#prepare.applied(zxid);
    this.#ends.applied(zxid);
    if (txn.op.kind === 'closeSession') {
      this.#leases.remove(txn.session);
      this.#ownership.remove(txn.session);
    }
  }

  /** The quotas that were exceeded since the last call, for the log. */
  takeExcesses(): readonly QuotaExcess[] {
    return this.#prepare.quotas.takeExcesses();
  }

  /** The sessions that expired since the last call, for the log; null if there are none. */
  takeExpired(): ExpiredSessions | null {
    return this.#expiredNotes.take();
  }

  /** The estimated size of the state once everything in flight is applied. */
  get treeBytes(): number {
    return this.#prepare.room.bytes;
  }

  /**
   * The writes for which the tree had no space since the last call, for the log; null if there are
   * none.
   */
  takeRefusals(): TreeRefusals | null {
    return this.#prepare.room.takeRefusals();
  }

  takeDetaches(): readonly DetachOrder[] {
    const taken = this.#detaches;
    if (taken.length > 0) this.#detaches = [];
    return taken;
  }

  #mayAsk(origin: PeerId, item: ForwardedRequest): boolean {
    if (item.opcode === OpCode.createSession) return true;
    if (item.session === LOCAL_SESSION) return item.opcode !== OpCode.closeSession;
    return this.#ownership.isNewest(item.session, origin, item.attachment);
  }

  #prepareOne(origin: PeerId, item: ForwardedRequest, time: LeaderTime): void {
    const { session, request, opcode } = item;
    if (opcode === OpCode.closeSession && this.#prepare.overlay.sessions.isLive(session)) {
      this.#leases.remove(session);
      return this.#ends.end({ session, origin, request }, time.wallMs);
    }
    this.#prepare.prepare(origin, item, time.wallMs, this.#random16);
    if (opcode === OpCode.createSession) this.#opened(origin, item.attachment, time);
  }

  /** The id of a new session is the zxid of its transaction, which was prepared last. */
  #opened(member: PeerId, attachment: number, time: LeaderTime): void {
    const session = this.lastZxid;
    const opened = this.#prepare.liveSession(session);
    if (opened === undefined) return;
    this.#ownership.attach(session, { member, number: attachment });
    this.#leases.add(session, opened.timeoutMs, time.nowMs);
  }
}
