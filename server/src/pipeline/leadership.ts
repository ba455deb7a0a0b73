/**
 * What only the leader does for clients: prepare, session ownership and leases.
 *
 * The driver creates one when its member leads (its whole history applied) and drops it with the
 * role. All requests of all members pass `onRequest` in the order they arrive; what it returns is
 * proposed in that order and completely. Never does I/O, never keeps time.
 */
import {
  type Attach,
  type Attached,
  type ForwardedRequest,
  OpCode,
  type PeerId,
  type Zxid,
} from '@rookery/protocol';
import { Leases } from '../sessions/leases.js';
import { Ownership } from '../sessions/ownership.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId, Txn } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';
import type { LeadershipOptions } from './options.js';
import { Prepare, type PreparedTxn } from './prepare.js';
import { Reaper } from './reaper.js';

export type { PreparedTxn } from './prepare.js';

/**
 * The session went elsewhere: a Detach for that member (the leader itself: `Pipeline.onDetach`).
 */
export interface DetachOrder {
  readonly member: PeerId;
  readonly session: SessionId;
  /** The request that is refused for it; 0 if there is none. */
  readonly request: number;
}

export interface LeaderTime {
  /** The lease clock; see LeaseClock. */
  readonly nowMs: number;
  /** ms since 1970. */
  readonly wallMs: number;
}

export interface LeadershipDependencies {
  readonly state: ReplicatedState;
  readonly options: LeadershipOptions;
  /** 16 fresh random bytes: a session's password. */
  readonly random16: () => Uint8Array;
}

/** Sessions expire at most this much after their deadline. */
const LEASE_BUCKET_MS = 100;

export class Leadership {
  readonly #prepare: Prepare;
  readonly #leases: Leases;
  readonly #ownership = new Ownership();
  readonly #reaper: Reaper;
  readonly #random16: () => Uint8Array;
  #detaches: DetachOrder[] = [];
  #inFlight = 0;

  /** Every session gets a fresh full timeout. */
  constructor(dependencies: LeadershipDependencies, time: LeaderTime) {
    const { state, options, random16 } = dependencies;
    this.#random16 = random16;
    this.#prepare = new Prepare(state, options);
    this.#prepare.begin(options.epoch, options.lastZxid, options.firstCounter);
    this.#leases = new Leases({ slackMs: options.leaseSlackMs, bucketMs: LEASE_BUCKET_MS });
    this.#reaper = new Reaper(state, options.reaper, time.nowMs);
    for (const [session, { timeoutMs }] of state.sessions.sorted()) {
      this.#leases.add(session, timeoutMs, time.nowMs);
    }
  }

  /** The last zxid handed out. */
  get lastZxid(): Zxid {
    return this.#prepare.lastZxid;
  }

  /** Zxids that the epoch still has. At 0 requests are dropped: the epoch must end. */
  get counterLeft(): number {
    return this.#prepare.counterLeft();
  }

  /** Prepared and not yet applied. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Sessions whose lease runs. */
  get sessionCount(): number {
    return this.#leases.count;
  }

  /** When each session expires if nothing more is heard of it, on the lease clock. */
  deadlines(): ReturnType<Leases['deadlines']> {
    return this.#leases.deadlines();
  }

  /**
   * A request of a session that `origin` does not own is dropped (null); a detach tells it. What is
   * returned is valid until the next one is prepared.
   */
  onRequest(origin: PeerId, item: ForwardedRequest, time: LeaderTime): PreparedTxn | null {
    // Whatever still comes dies with the epoch: never a gap, never out of order.
    if (this.#prepare.counterLeft() === 0) return null;
    if (!this.#mayAsk(origin, item)) {
      const { session, request } = item;
      this.#detaches.push({ member: origin, session, request });
      return null;
    }
    this.#inFlight += 1;
    return this.#prepareOne(origin, item, time);
  }

  /** Valid iff the session is alive, creations and closes in flight included. Moves ownership. */
  onAttach(origin: PeerId, attach: Attach, time: LeaderTime): Attached {
    const { request, session } = attach;
    const live = this.#prepare.liveSession(session);
    if (live === undefined || !sameBytes(live.password, attach.password)) {
      return { kind: 'attached', request, valid: false, timeoutMs: 0 };
    }
    this.#leases.touch(session, time.nowMs);
    const before = this.#ownership.move(session, origin);
    if (before !== undefined) this.#detaches.push({ member: before, session, request: 0 });
    // The timeout is replicated with the session, so that the next leader keeps it too.
    return { kind: 'attached', request, valid: true, timeoutMs: live.timeoutMs };
  }

  /** Of sessions that `origin` owns; a late report of an earlier owner counts for nothing. */
  onTouch(origin: PeerId, sessions: readonly SessionId[], time: LeaderTime): void {
    for (const session of sessions) {
      if (this.#ownership.ownerOf(session) === origin) this.#leases.touch(session, time.nowMs);
    }
  }

  /**
   * The member may have answered clients until now without being able to report it, so its sessions
   * count as heard from: none expires early, at worst later by what its loss took to be noticed.
   */
  onMemberGone(member: PeerId, time: LeaderTime): void {
    for (const session of this.#ownership.ownedBy(member)) this.#leases.touch(session, time.nowMs);
  }

  /** The lease of this session, if it is alive, has run out: the next tick closes it. */
  expire(session: SessionId): void {
    this.#leases.end(session);
  }

  /**
   * Closes sessions whose lease has run out, and deletes containers and TTL nodes that nobody
   * would miss; at most `max` transactions in one call.
   */
  onTick(time: LeaderTime, max: number): readonly PreparedTxn[] {
    const room = Math.min(max, this.#prepare.counterLeft());
    const prepared: PreparedTxn[] = [];
    for (const session of this.#leases.expired(time.nowMs, room)) {
      const closed = this.#prepare.prepareExpiry(session, time.wallMs);
      if (closed !== null) prepared.push(closed);
    }
    for (const path of this.#reaper.due(time, room - prepared.length)) {
      const deleted = this.#prepare.prepareReap(path, time.wallMs);
      if (deleted !== null) prepared.push(deleted);
    }
    this.#inFlight += prepared.length;
    return prepared;
  }

  /** After each `Pipeline.apply`, in order. */
  onApplied(zxid: Zxid, txn: Txn): void {
    this.#inFlight -= 1;
    this.#prepare.applied(zxid);
    if (txn.op.kind === 'closeSession') {
      this.#leases.remove(txn.session);
      this.#ownership.remove(txn.session);
    }
  }

  /** Quotas that were exceeded since the last call, for the log. */
  takeNotes(): readonly string[] {
    return this.#prepare.takeNotes();
  }

  takeDetaches(): readonly DetachOrder[] {
    const taken = this.#detaches;
    if (taken.length > 0) this.#detaches = [];
    return taken;
  }

  #mayAsk(origin: PeerId, item: ForwardedRequest): boolean {
    if (item.opcode === OpCode.createSession) return true;
    if (item.session === LOCAL_SESSION) return item.opcode !== OpCode.closeSession;
    return this.#ownership.ownerOf(item.session) === origin;
  }

  #prepareOne(origin: PeerId, item: ForwardedRequest, time: LeaderTime): PreparedTxn {
    const prepared = this.#prepare.prepare(origin, item, time.wallMs, this.#random16);
    const { op } = prepared.txn;
    if (op.kind === 'createSession') {
      this.#ownership.move(prepared.zxid, origin);
      this.#leases.add(prepared.zxid, op.timeoutMs, time.nowMs);
    } else if (op.kind === 'closeSession') {
      this.#leases.remove(item.session);
    }
    return prepared;
  }
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
