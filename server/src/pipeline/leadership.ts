/**
 * What only the leader does for clients: prepare, session ownership and leases.
 *
 * The driver creates one when its member leads (its whole history applied) and drops it with the
 * role. All requests of all members pass `onRequests` in the order they arrive; what it returns is
 * proposed in that order, at once and completely. Never does I/O, never keeps time.
 */
import type { Attach, Attached, ForwardedRequest, PeerId, Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId, Txn } from '../state/txn.js';
import type { LeadershipOptions } from './options.js';

/**
 * To be encoded and proposed in this turn: data may be views of the request's body.
 */
export interface PreparedTxn {
  readonly zxid: Zxid;
  readonly txn: Txn;
}

/** The session went elsewhere: a Detach for that member (the leader itself: `Pipeline.onDetach`). */
export interface DetachOrder {
  readonly member: PeerId;
  readonly session: SessionId;
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

export class Leadership {
  /** Every session gets a fresh full timeout. */
  constructor(_dependencies: LeadershipDependencies, _time: LeaderTime) {
    throw new Error('skeleton');
  }

  /** Requests of sessions that `origin` does not own are dropped; a detach tells it. */
  onRequests(
    _origin: PeerId,
    _items: readonly ForwardedRequest[],
    _time: LeaderTime,
  ): readonly PreparedTxn[] {
    throw new Error('skeleton');
  }
  onAttach(_origin: PeerId, _attach: Attach, _time: LeaderTime): Attached {
    throw new Error('skeleton');
  }
  onTouch(_origin: PeerId, _sessions: readonly SessionId[], _time: LeaderTime): void {
    throw new Error('skeleton');
  }
  /** Closes sessions whose lease has run out; at most `max` in one call. */
  onTick(_time: LeaderTime, _max: number): readonly PreparedTxn[] {
    throw new Error('skeleton');
  }
  /** After each `Pipeline.apply`, in order. */
  onApplied(_zxid: Zxid, _txn: Txn): void {
    throw new Error('skeleton');
  }
  takeDetaches(): readonly DetachOrder[] {
    throw new Error('skeleton');
  }

  /** The last zxid handed out. */
  get lastZxid(): Zxid {
    throw new Error('skeleton');
  }
  /** Zxids that the epoch still has. At 0 requests are dropped: the epoch must end. */
  get counterLeft(): number {
    throw new Error('skeleton');
  }
  /** Prepared and not yet applied. */
  get inFlight(): number {
    throw new Error('skeleton');
  }
  get sessionCount(): number {
    throw new Error('skeleton');
  }
}
