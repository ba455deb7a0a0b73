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
  Fifo,
  type ForwardedRequest,
  formatZxid,
  OpCode,
  type PeerId,
  type Zxid,
} from '@rookery/protocol';
import { ExpiredSessionNotes, Leases, Ownership } from '../sessions/leases.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { NodeAges } from '../state/tree.js';
import type { Acl, SessionId, Txn } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';
import type { RequestPreparerOptions } from './options.js';
import { type EpochStart, type SessionEnd, TxnPreparer, type TxnSink } from './prepare.js';
import { Reaper } from './reaper.js';

/**
 * An attachment of the session has ended, which the Detach tells its member (for the leader itself:
 * `Pipeline.onDetach`).
 */
interface DetachOrder {
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

/** What a leadership begins with; the state is at the end of its history. */
export interface TermStart extends EpochStart {
  readonly state: ReplicatedState;
  /** The ages with which TTLs are compared. */
  readonly ages: NodeAges;
}

/**
 * The width of a bucket of Leases: a session expires at the first tick after the end of the bucket
 * with its deadline, unless more are due than a tick may close.
 */
const LEASE_BUCKET_MS = 100;
/** The ephemerals that one transaction deletes for the end of a session: one or two ms. */
export const EPHEMERALS_PER_PART_MAX = 256;
/** The characters of the paths that it deletes, except for a single path that has more. */
const PATHS_MAX = 32 << 10;
/** Parts that may be proposed and not applied yet: one is decided while another one is applied. */
const PARTS_IN_FLIGHT = 2;

export class RequestPreparer {
  readonly txns: TxnPreparer;
  readonly leases: Leases;
  readonly ends: SessionEnds;
  /** The sessions that have expired and are not logged yet. */
  readonly expired = new ExpiredSessionNotes();
  /** The number of sessions that have expired in this term, or were ended by an operator. */
  expiredCount = 0;
  readonly #ownership = new Ownership();
  readonly #reaper: Reaper;
  readonly #random16: () => Uint8Array;
  #detaches: DetachOrder[] = [];
  /** The highest ensemble level that is reached or proposed. */
  #level: number;

  /**
   * Each session that is not closing gets a fresh lease, from `time.nowMs` on. The sink takes the
   * transactions as they are prepared. `random16` returns 16 fresh random bytes for a password.
   */
  constructor(
    term: TermStart,
    options: RequestPreparerOptions,
    sink: TxnSink,
    random16: () => Uint8Array,
    time: LeaderTime,
  ) {
    const { state } = term;
    this.#random16 = random16;
    this.#level = state.level;
    this.txns = new TxnPreparer(state, options, term, sink);
    this.leases = new Leases({ slackMs: options.leaseSlackMs, bucketMs: LEASE_BUCKET_MS });
    this.#reaper = new Reaper(term, options.reaper, time.nowMs);
    this.ends = new SessionEnds(state, this.txns, options.ephemeralsPerPartMax);
    for (const [session, { timeoutMs, isClosing }] of state.sessions.sorted()) {
      if (!isClosing) this.leases.add(session, timeoutMs, time.nowMs);
    }
  }

  /**
   * Has one request decided. If it did not come by its session's newest attachment it is dropped,
   * and a detach reports that: an attachment that has ended never becomes the newest again, so of
   * what one connection sent a prefix is executed and nothing after it.
   */
  onRequest(origin: PeerId, item: ForwardedRequest, time: LeaderTime): void {
    // The epoch is about to end, and every client connection with it. Until then all requests are
    // dropped, so none is executed after one that was dropped.
    if (this.#counterLeft === 0) return;
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
    if (this.ends.waiting === 0 || this.#counterLeft === 0) return false;
    return this.ends.next(time.wallMs);
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
    if (this.txns.overlay.sessions.isClosing(session)) {
      this.#detaches.push({ member: origin, session, attachment: attach.attachment, request });
      return null;
    }
    const live = this.txns.liveSession(session);
    if (live === undefined || Buffer.compare(live.password, attach.password) !== 0) {
      return { kind: 'attached', request, valid: false, timeoutMs: 0 };
    }
    this.leases.touch(session, time.nowMs);
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
      if (this.#ownership.isAt(session, origin)) this.leases.touch(session, time.nowMs);
    }
  }

  /**
   * The link of a member was lost. The member may have answered clients until now without being
   * able to report it, so its sessions count as heard from: none expires too early, and at worst
   * later by the time that it took to notice the loss.
   */
  onMemberGone(member: PeerId, time: LeaderTime): void {
    for (const session of this.#ownership.ownedBy(member)) this.leases.touch(session, time.nowMs);
  }

  /**
   * Closes sessions whose lease has expired, and deletes containers and TTL nodes that have become
   * due; at most `max` transactions in one call.
   */
  onTick(time: LeaderTime, max: number): void {
    const before = this.#counterLeft;
    const room = Math.min(max, before);
    for (const lease of this.leases.expired(time.nowMs, room)) {
      const { session } = lease;
      if (!this.txns.overlay.sessions.isLive(session)) continue;
      const member = this.#ownership.memberOf(session);
      const ephemerals = this.txns.overlay.ephemeralsOwned(session);
      this.expired.add({ ...lease, member, ephemerals });
      this.ends.end({ session, origin: 0, request: 0 }, time.wallMs);
      this.expiredCount += 1;
    }
    for (const path of this.#reaper.due(time.nowMs, room - (before - this.#counterLeft))) {
      this.txns.prepareReap(path, time.wallMs, this.#reaper.rules);
    }
  }

  /** Raises the ensemble level, unless that level, or a higher one, is reached or proposed. */
  raiseLevel(level: number, time: LeaderTime): void {
    if (level <= this.#level || this.#counterLeft === 0) return;
    this.#level = level;
    this.txns.prepareRaise(level, time.wallMs);
  }

  /** Prepares the first transaction of an ensemble that begins with an ACL of its own. */
  foundEnsemble(acl: readonly Acl[], time: LeaderTime): void {
    const { last } = this.txns.zxids;
    assert(last === 0, () => `an ensemble at ${formatZxid(last)} is founded already`);
    this.txns.prepareFounding(acl, time.wallMs);
  }

  /** Called after each `Pipeline.apply`, in order. */
  onApplied(zxid: Zxid, txn: Txn): void {
    this.txns.applied(zxid);
    this.ends.applied(zxid);
    if (txn.op.kind === 'closeSession') {
      this.leases.remove(txn.session);
      this.#ownership.remove(txn.session);
    }
  }

  takeDetaches(): readonly DetachOrder[] {
    const taken = this.#detaches;
    if (taken.length > 0) this.#detaches = [];
    return taken;
  }

  /** When no zxid is left, requests are dropped, because the epoch must end. */
  get #counterLeft(): number {
    return this.txns.zxids.left;
  }

  #mayAsk(origin: PeerId, item: ForwardedRequest): boolean {
    if (item.opcode === OpCode.createSession) return true;
    if (item.session === LOCAL_SESSION) return item.opcode !== OpCode.closeSession;
    return this.#ownership.isNewest(item.session, origin, item.attachment);
  }

  #prepareOne(origin: PeerId, item: ForwardedRequest, time: LeaderTime): void {
    const { session, request, opcode } = item;
    if (opcode === OpCode.closeSession && this.txns.overlay.sessions.isLive(session)) {
      this.leases.remove(session);
      return this.ends.end({ session, origin, request }, time.wallMs);
    }
    this.txns.prepare(origin, item, time.wallMs, this.#random16);
    if (opcode === OpCode.createSession) this.#opened(origin, item.attachment, time);
  }

  /** The id of a new session is the zxid of its transaction, which was prepared last. */
  #opened(member: PeerId, attachment: number, time: LeaderTime): void {
    const session = this.txns.zxids.last;
    const opened = this.txns.liveSession(session);
    if (opened === undefined) return;
    this.#ownership.attach(session, { member, number: attachment });
    this.leases.add(session, opened.timeoutMs, time.nowMs);
  }
}

interface Part {
  readonly zxid: Zxid;
  readonly deletes: number;
}

/**
 * The leader's ends of sessions: at once, or in parts so that others are served in between.
 *
 * A session may own a million ephemerals, and deleting them in one transaction would keep every
 * member from everything else for seconds. A close therefore deletes a few hundred at most. A
 * session that has more gets a beginClose, and so does one whose ephemerals would exceed the bound
 * on the deletes in flight. From then on no client can resume it and it does nothing more;
 * transactions delete its ephemerals, a part each, and its close comes last.
 *
 * The next leader finds in the state which sessions are closing, and continues. Sessions are served
 * round-robin, and the deletes in flight are bounded: the next part is prepared when an earlier one
 * is applied.
 */
class SessionEnds {
  readonly #state: ReplicatedState;
  readonly #prepare: TxnPreparer;
  readonly #partMax: number;
  /** Sessions whose end is decided, the one that has waited longest first. */
  readonly #waiting = new Fifo<SessionEnd>();
  /** In the order of their zxids. */
  readonly #inFlight = new Fifo<Part>();
  #deletesInFlight = 0;

  /** Continues with sessions that an earlier leader has left closing; no client waits for them. */
  constructor(state: ReplicatedState, prepare: TxnPreparer, partMax: number) {
    this.#state = state;
    this.#prepare = prepare;
    this.#partMax = partMax;
    for (const session of prepare.overlay.sessions.closing()) {
      this.#waiting.push({ session, origin: 0, request: 0 });
    }
  }

  /** The number of sessions that have a beginClose and whose closeSession is not prepared yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Ends a live session: prepares its closeSession, or a beginClose if its ephemerals are too many
   * for one transaction now. Either of them decides the end.
   */
  end(asked: SessionEnd, wallMs: number): void {
    const owned = this.#prepare.overlay.ephemeralsOwned(asked.session);
    if (!this.#mayDelete(owned)) {
      this.#waiting.push(asked);
      return this.#prepare.prepareBeginClose(asked, wallMs);
    }
    this.#close(asked, wallMs, owned);
  }

  /**
   * Prepares the next part of an end. Returns false while nothing is to be done, or enough is in
   * flight.
   */
  next(wallMs: number): boolean {
    for (let sessions = this.#waiting.length; sessions > 0; sessions--) {
      const asked = this.#waiting.first;
      if (asked === undefined) return false;
      const owned = this.#prepare.overlay.ephemeralsOwned(asked.session);
      if (!this.#mayDelete(Math.min(owned, this.#partMax))) return false;
      this.#waiting.shift();
      if (owned <= this.#partMax) {
        this.#close(asked, wallMs, owned);
        return true;
      }
      this.#waiting.push(asked);
      const paths = this.#pathsToDelete(asked.session);
      // The remaining ones are being created: they are deleted once that is applied.
      if (paths.length > 0) {
        this.#prepare.prepareDeletes(paths, wallMs);
        this.#track(paths.length);
        return true;
      }
    }
    return false;
  }

  applied(zxid: Zxid): void {
    const part = this.#inFlight.first;
    if (part?.zxid !== zxid) return;
    this.#inFlight.shift();
    this.#deletesInFlight -= part.deletes;
  }

  #mayDelete(count: number): boolean {
    return (
      count <= this.#partMax && this.#deletesInFlight + count <= PARTS_IN_FLIGHT * this.#partMax
    );
  }

  #close(asked: SessionEnd, wallMs: number, owned: number): void {
    this.#prepare.prepareClose(asked, wallMs);
    this.#track(owned);
  }

  /** The transaction that was prepared last deletes that many znodes. */
  #track(deletes: number): void {
    if (deletes === 0) return;
    this.#inFlight.push({ zxid: this.#prepare.zxids.last, deletes });
    this.#deletesInFlight += deletes;
  }

  /** The ephemerals in the tree that nothing in flight deletes. */
  #pathsToDelete(session: SessionId): readonly string[] {
    const { overlay } = this.#prepare;
    const { tree } = this.#state;
    const paths: string[] = [];
    let left = PATHS_MAX;
    tree.visitEphemerals(session, (node) => {
      const path = tree.path(node);
      if (overlay.ownerOf(path) !== session) return true;
      left -= path.length;
      paths.push(path);
      return paths.length < this.#partMax && left > 0;
    });
    return paths;
  }
}
