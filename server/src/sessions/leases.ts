/**
 * Tracks how long each session may still be silent. The leader has those of the ensemble's
 * sessions, and each member those of its local ones (LocalSessions).
 *
 * A session expires at its last reported touch + its timeout + a slack. The leader's slack is 2 H,
 * in which clients may still be answered by members of which it hears nothing: a deposed leader
 * serves until H after its quorum last answered it, and each of its followers serves until H after
 * its leader last answered it. Sessions are in buckets of time: each expires with the first call of
 * `expired` after the end of the bucket with its deadline, or with a later call if more are due
 * than one may return or examine. A touch only changes a number; the session is examined again when
 * its former bucket is due. The leader closes an expired session in `RequestPreparer.onTick`. Pure:
 * the clock is an argument (see LeaseClock), in ms.
 */
import { assert, type PeerId } from '@rookery/protocol';
import type { SessionId } from '../state/txn.js';

/** A lease that is over, because its deadline has passed or because `end` was called. */
export interface ExpiredLease {
  readonly session: SessionId;
  readonly timeoutMs: number;
  /**
   * For how many whole ms the session counts as silent, on the clock of the leases: since its last
   * touch, or since its lease began. The client itself may have been silent for longer.
   */
  readonly silentMs: number;
  /** Whether `end` was called, so its deadline need not have passed. */
  readonly endedByOperator: boolean;
}

interface Lease {
  readonly session: SessionId;
  readonly timeoutMs: number;
  deadlineMs: number;
}

/**
 * The leases that one call examines: a few milliseconds. A new leader gives all sessions the same
 * deadline, or as many as there are timeouts, so one bucket may have all of them.
 */
const EXAMINED_MAX = 20_000;

export class Leases {
  readonly #slackMs: number;
  readonly #bucketMs: number;
  readonly #leases = new Map<SessionId, Lease>();
  /**
   * Bucket b is due at b * bucketMs. A lease is in the bucket that follows the deadline it had when
   * it was put there. Deadlines only grow, so it is due at most one bucket after its deadline.
   */
  readonly #buckets = new Map<number, Lease[]>();
  /** Sessions that were ended by `end`. */
  readonly #ended = new Set<SessionId>();
  /** All buckets before this one are empty. */
  #next = 0;

  constructor(options: { readonly slackMs: number; readonly bucketMs: number }) {
    assert(options.slackMs >= 0, 'the slack is not negative');
    assert(options.bucketMs > 0, 'a bucket has a width');
    this.#slackMs = options.slackMs;
    this.#bucketMs = options.bucketMs;
  }

  get count(): number {
    return this.#leases.size;
  }

  /** When each session expires if no further touch comes, for reports. Lazy. */
  deadlines(): Iterable<{ readonly session: SessionId; readonly deadlineMs: number }> {
    return this.#leases.values();
  }

  /** The session is alive from now on. */
  add(session: SessionId, timeoutMs: number, nowMs: number): void {
    assert(!this.#leases.has(session), () => `session ${session} has no lease yet`);
    assert(timeoutMs > 0, () => `timeout ${timeoutMs} is positive`);
    const lease = { session, timeoutMs, deadlineMs: nowMs + timeoutMs + this.#slackMs };
    this.#leases.set(session, lease);
    if (this.#buckets.size === 0) this.#skipTo(Math.floor(nowMs / this.#bucketMs));
    this.#putInBucket(lease);
  }

  /** Ignores unknown sessions, because a touch may arrive after the close. */
  touch(session: SessionId, nowMs: number): void {
    const lease = this.#leases.get(session);
    if (lease === undefined) return;
    lease.deadlineMs = Math.max(lease.deadlineMs, nowMs + lease.timeoutMs + this.#slackMs);
  }

  remove(session: SessionId): void {
    this.#leases.delete(session);
  }

  /**
   * The next call of `expired` that has room for it returns this session, whatever touches come
   * before. A leader that loses its role before that call has not ended it, because leases are in
   * its memory only. Returns false, and does nothing, if the session has no lease or was ended
   * before.
   */
  end(session: SessionId): boolean {
    if (!this.#leases.has(session) || this.#ended.has(session)) return false;
    this.#ended.add(session);
    return true;
  }

  /** Removes and returns at most `max` leases that are over. */
  expired(nowMs: number, max: number): readonly ExpiredLease[] {
    const due = Math.floor(nowMs / this.#bucketMs);
    const expired = this.#takeEnded(nowMs, max);
    const bounds = { max, examinedMax: EXAMINED_MAX };
    while (this.#next <= due && this.#buckets.size > 0) {
      const bucket = this.#buckets.get(this.#next);
      if (bucket !== undefined && !this.#examine(bucket, nowMs, expired, bounds)) return expired;
      this.#buckets.delete(this.#next);
      this.#next += 1;
    }
    this.#skipTo(due + 1);
    return expired;
  }

  #takeEnded(nowMs: number, max: number): ExpiredLease[] {
    const taken: ExpiredLease[] = [];
    for (const session of this.#ended) {
      if (taken.length === max) break;
      this.#ended.delete(session);
      const lease = this.#leases.get(session);
      if (lease !== undefined) taken.push(this.#remove(lease, nowMs, true));
    }
    return taken;
  }

  #remove(lease: Lease, nowMs: number, endedByOperator: boolean): ExpiredLease {
    const { session, timeoutMs, deadlineMs } = lease;
    this.#leases.delete(session);
    const lastTouchMs = deadlineMs - timeoutMs - this.#slackMs;
    return { session, timeoutMs, silentMs: Math.round(nowMs - lastTouchMs), endedByOperator };
  }

  /**
   * Returns true if the whole bucket was examined, false if a bound was reached first, which the
   * buckets of one call share.
   */
  #examine(
    bucket: Lease[],
    nowMs: number,
    expired: ExpiredLease[],
    bounds: { readonly max: number; examinedMax: number },
  ): boolean {
    for (let lease = bucket.pop(); lease !== undefined; lease = bucket.pop()) {
      bounds.examinedMax -= 1;
      if (bounds.examinedMax < 0) {
        bucket.push(lease);
        return false;
      }
      if (this.#leases.get(lease.session) !== lease) continue;
      if (lease.deadlineMs > nowMs) {
        this.#putInBucket(lease);
      } else if (expired.length < bounds.max) {
        expired.push(this.#remove(lease, nowMs, false));
      } else {
        bucket.push(lease);
        return false;
      }
    }
    return true;
  }

  /** Skips past buckets that are empty. */
  #skipTo(bucket: number): void {
    this.#next = Math.max(this.#next, bucket);
  }

  #putInBucket(lease: Lease): void {
    const index = Math.max(this.#next, Math.ceil(lease.deadlineMs / this.#bucketMs));
    const bucket = this.#buckets.get(index);
    if (bucket === undefined) this.#buckets.set(index, [lease]);
    else bucket.push(lease);
  }
}

interface ExpiredSession extends ExpiredLease {
  /** The member that served the session last; null if none did in this leader's term. */
  readonly member: PeerId | null;
  /**
   * The number of ephemerals that it owns once all that is in flight is applied; they end with it.
   */
  readonly ephemerals: number;
}

export interface ExpiredSessions {
  /** All of them, also those that are not described. */
  readonly count: number;
  /** The first NAMED_MAX of them. */
  readonly sessions: readonly ExpiredSession[];
}

const NAMED_MAX = 10;

export class ExpiredSessionNotes {
  #count = 0;
  #sessions: ExpiredSession[] = [];

  add(session: ExpiredSession): void {
    this.#count += 1;
    if (this.#sessions.length < NAMED_MAX) this.#sessions.push(session);
  }

  /** Null if no session has expired since the last call. */
  take(): ExpiredSessions | null {
    if (this.#count === 0) return null;
    const taken = { count: this.#count, sessions: this.#sessions };
    this.#count = 0;
    this.#sessions = [];
    return taken;
  }
}

interface Attachment {
  readonly member: PeerId;
  /** 0 for a member that does not send it; its attachments cannot be told apart. */
  readonly number: number;
}

export class Ownership {
  readonly #newest = new Map<SessionId, Attachment>();

  /** The member that serves the session; null if it has not been attached in this term. */
  memberOf(session: SessionId): PeerId | null {
    return this.#newest.get(session)?.member ?? null;
  }

  /** Whether this member serves the session, by whatever connection. */
  isAt(session: SessionId, member: PeerId): boolean {
    return this.#newest.get(session)?.member === member;
  }

  isNewest(session: SessionId, member: PeerId, attachment: number): boolean {
    const newest = this.#newest.get(session);
    return newest?.member === member && newest.number === attachment;
  }

  /** Returns the former attachment if there was one, whose connection must be closed. */
  attach(session: SessionId, to: Attachment): Attachment | undefined {
    const before = this.#newest.get(session);
    this.#newest.set(session, to);
    return before;
  }

  *ownedBy(member: PeerId): Iterable<SessionId> {
    for (const [session, newest] of this.#newest) if (newest.member === member) yield session;
  }

  remove(session: SessionId): void {
    this.#newest.delete(session);
  }
}
