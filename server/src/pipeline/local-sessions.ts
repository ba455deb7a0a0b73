/**
 * Keeps the sessions that only this member knows: local ones, and all sessions of read-only mode.
 *
 * They own nothing and are in no transaction: their writes go to the leader as LOCAL_SESSION. Their
 * ids are negative, so that none is ever a zxid, and contain the member, so that no two members
 * give out the same. A local session survives changes of the role, each of which gives it a fresh
 * timeout; one of read-only mode ends with that mode. While this member serves no client, no time
 * passes for them. They expire by this member's own lease clock, and end with its process. Called
 * by Pipeline, Handshake and Touches.
 */
import { assert, type PeerId } from '@rookery/protocol';
import { Leases } from '../sessions/leases.js';
import { LeaseClock } from '../sessions/member-clocks.js';
import { atMost } from '../state/at-most.js';
import type { SessionId } from '../state/txn.js';

/**
 * The session in whose name the leader sees every request of a local session; no session has this
 * id.
 */
export const LOCAL_SESSION: SessionId = 0;

interface LocalSession {
  readonly timeoutMs: number;
  readonly password: Uint8Array;
  /** Made in read-only mode, with which it ends. */
  readonly isReadOnly: boolean;
}

interface LocalSessionsOptions {
  readonly id: PeerId;
  /** The first number of the ids, a random one, so that no earlier run gave out the same. */
  readonly first: number;
  /**
   * The time between two ticks, in ms. The clock is read at each tick while clients are served, so
   * when a request comes it may have been read up to twice this ago (see Turns).
   */
  readonly tickMs: number;
}

/** The number of ids of a member: those of 255 members fit a safe integer. */
const IDS = 2 ** 44;
const BUCKET_MS = 100;

/** In a tick, as those of the ensemble; the others go later. */
const EXPIRED_MAX = 1000;

export class LocalSessions {
  readonly #options: LocalSessionsOptions;
  readonly #clock: LeaseClock;
  readonly #sessions = new Map<SessionId, LocalSession>();
  #leases: Leases;
  #next: number;
  #nowMs = 0;

  constructor(options: LocalSessionsOptions) {
    assert(options.id > 0 && options.id < 256, () => `member id ${options.id} fits a byte`);
    this.#options = options;
    this.#clock = new LeaseClock(2 * options.tickMs);
    this.#leases = this.#newLeases();
    this.#next = options.first % IDS;
  }

  get count(): number {
    return this.#sessions.size;
  }

  get(session: SessionId): LocalSession | undefined {
    return this.#sessions.get(session);
  }

  open(session: LocalSession): SessionId {
    const id = -(this.#options.id * IDS + this.#next);
    this.#next = (this.#next + 1) % IDS;
    assert(!this.#sessions.has(id), () => `local session ${id} is new`);
    this.#sessions.set(id, session);
    this.#leases.add(id, session.timeoutMs, this.#nowMs);
    return id;
  }

  /** Undefined if there is no such session, or the password differs. */
  resume(id: SessionId, password: Uint8Array): LocalSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || Buffer.compare(session.password, password) !== 0) return undefined;
    this.touch(id);
    return session;
  }

  touch(id: SessionId): void {
    this.#leases.touch(id, this.#nowMs);
  }

  /** Ignores unknown sessions. */
  close(id: SessionId): void {
    this.#sessions.delete(id);
    this.#leases.remove(id);
  }

  /**
   * Called at each tick while clients are served: removes and returns sessions that have expired, a
   * thousand at most.
   */
  expire(monotonicMs: number): readonly SessionId[] {
    this.#nowMs = this.#clock.read(monotonicMs);
    const expired = this.#leases.expired(this.#nowMs, EXPIRED_MAX).map(({ session }) => session);
    for (const id of expired) this.#sessions.delete(id);
    return expired;
  }

  /**
   * Clients are served from now on: sessions that were cut off meanwhile have their full timeout
   * again.
   */
  renew(): void {
    this.#leases = this.#newLeases();
    for (const [id, { timeoutMs }] of this.#sessions) this.#leases.add(id, timeoutMs, this.#nowMs);
  }

  /** Read-only mode has ended. */
  dropReadOnly(): void {
    for (const [id, { isReadOnly }] of this.#sessions) if (isReadOnly) this.close(id);
  }

  /** For reports. Lazy. */
  *expiries(): Generator<{ readonly id: SessionId; readonly inMs: number }> {
    for (const { session, deadlineMs } of atMost(this.count, this.#leases.deadlines())) {
      yield { id: session, inMs: deadlineMs - this.#nowMs };
    }
  }

  /**
   * A touch counts from the last tick, which may be up to twice `tickMs` ago (see Turns). The slack
   * makes up for that, so that no session expires before its timeout.
   */
  #newLeases(): Leases {
    return new Leases({ slackMs: 2 * this.#options.tickMs, bucketMs: BUCKET_MS });
  }
}
