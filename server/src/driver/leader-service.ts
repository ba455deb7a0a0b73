/**
 * What a leader does for the clients of all members during one term: it takes their requests,
 * syncs, attaches and touches in the order of their arrival. RequestPreparer judges who may speak
 * for a session, and has Prepare decide the requests, whose transactions go to `batcher`.
 *
 * Each turn works off as much as fits its share: the messages of all members may hold many
 * thousands of operations, and decided in one turn they would delay heartbeats until the followers
 * elect another leader. Only reports of touched sessions overtake the rest, because leases run out
 * meanwhile. Requests also wait while the overlay is at its bound, as with a slow disk or quorum.
 * Most of the time nothing waits. The driver proposes the batches at the end of a turn. An answer
 * goes to the member that asked, which may be this one. A new term has a new service.
 */

import {
  type Attach,
  Fifo,
  type ForwardedRequest,
  OpCode,
  type PeerId,
  type SyncRequest,
  type Touch,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import type { Timers } from '../net/timers.js';
import type { ForLeader } from '../pipeline/outbox.js';
import type { QuotaExcess } from '../pipeline/quota-guard.js';
import type { LeaderTime, RequestPreparer } from '../pipeline/request-preparer.js';
import type { TreeRefusals } from '../pipeline/tree-room.js';
import type { ExpiredSessions } from '../sessions/expired-sessions.js';
import { atMost } from '../state/at-most.js';
import type { SessionId, Txn } from '../state/txn.js';
import { ConfirmedAnswers, type ConfirmingHooks } from './confirmed-answers.js';
import type { ProposalBatcher } from './proposal-batcher.js';

export interface LeaderServiceHooks extends ConfirmingHooks {
  time(): LeaderTime;
  /** Logs which sessions have expired. */
  onExpired(expired: ExpiredSessions): void;
  /** Logs that a quota is exceeded. */
  onQuotaExceeded(excess: QuotaExcess): void;
  /** Logs that writes were refused because the tree is at its bound. */
  onTreeFull(refusals: TreeRefusals): void;
}

/** A message of a member, this one included, to its leader. */
export type MessageToLeader = ForLeader | Touch;

interface Waiting {
  readonly origin: PeerId;
  readonly message: ForLeader;
  /** The number of its requests that are decided. */
  done: number;
}

export interface ServiceLimits {
  /** The part of a turn that requests may take, in ms. */
  readonly shareMs: number;
  /** The number of operations in the overlay from which on no request is prepared. */
  readonly overlaySizeMax: number;
}

/** Requests between two readings of the clock. After a multi or a large one it is always read. */
const REQUESTS_PER_READING = 16;
/** A request of this size, such as one with thousands of ACL entries, may take milliseconds. */
const LARGE_REQUEST_BYTES = 16 << 10;
/** How many sessions one tick closes, and znodes it reaps, in all. The rest waits for the next. */
const CHANGES_PER_TICK_MAX = 1000;
/** The least time between two lines about expired sessions, or between two about refused writes. */
const LOG_INTERVAL_MS = 1000;

export class LeaderService {
  readonly preparer: RequestPreparer;
  readonly batcher: ProposalBatcher;
  /**
   * The answers to syncs and to attaches for sessions that are gone. It is asked for confirmations
   * once what is prepared has been proposed, because a sync must show everything before it.
   */
  readonly confirmed: ConfirmedAnswers;
  readonly #limits: ServiceLimits;
  readonly #timers: Pick<Timers, 'nowMs'>;
  readonly #hooks: LeaderServiceHooks;
  readonly #waiting = new Fifo<Waiting>();
  /** When this turn's share ends, monotonic ms; NaN before the first reading of the clock. */
  #untilMs = Number.NaN;
  #untilReading = REQUESTS_PER_READING;
  #isUsedUp = false;
  /** When the next line about expired sessions may be logged, on the lease clock. */
  #nextExpiredMs = 0;
  /** The same for exceeded quotas and refused writes. */
  #nextRefusedMs = 0;

  constructor(
    { preparer, batcher }: Pick<LeaderService, 'preparer' | 'batcher'>,
    hooks: LeaderServiceHooks,
    timers: Pick<Timers, 'nowMs'>,
    limits: ServiceLimits,
  ) {
    this.preparer = preparer;
    this.batcher = batcher;
    this.#hooks = hooks;
    this.#timers = timers;
    this.#limits = limits;
    this.confirmed = new ConfirmedAnswers(hooks, preparer.lastZxid);
  }

  /** Whether a further request may be prepared: the overlay is bounded. */
  get hasRoom(): boolean {
    return this.preparer.overlaySize < this.#limits.overlaySizeMax;
  }

  /** Whether the next turn has something to do. Requests that wait for the overlay do not count. */
  get hasMore(): boolean {
    const head = this.#waiting.first;
    return head !== undefined && this.#hasRoomFor(head);
  }

  /** Live sessions with the time until they expire, read lazily, for reports. */
  *sessionExpiries(): Generator<{ readonly id: SessionId; readonly inMs: number }> {
    const { nowMs } = this.#hooks.time();
    const { sessionCount } = this.preparer;
    for (const { session, deadlineMs } of atMost(sessionCount, this.preparer.deadlines())) {
      yield { id: session, inMs: deadlineMs - nowMs };
    }
  }

  onMessage(origin: PeerId, message: MessageToLeader): void {
    if (message.kind === 'touch') return this.#onTouch(origin, message.sessions);
    this.#waiting.push({ origin, message, done: 0 });
    this.runWaiting();
  }

  /** Runs the messages that wait, until this turn's share is used up. */
  runWaiting(): void {
    while (!this.#isUsedUp) {
      const head = this.#waiting.first;
      if (head === undefined || !this.#hasRoomFor(head)) return;
      if (this.#run(head)) this.#waiting.shift();
    }
  }

  /** The turn is over: the next one has a new share. */
  renew(): void {
    this.#untilMs = Number.NaN;
    this.#untilReading = REQUESTS_PER_READING;
    this.#isUsedUp = false;
  }

  /** The link of a member was lost, and with it perhaps its last report of touched sessions. */
  onMemberGone(member: PeerId): void {
    this.preparer.onMemberGone(member, this.#hooks.time());
  }

  /** Does nothing if the level is already being raised to this one. */
  raiseLevel(level: number): void {
    this.preparer.raiseLevel(level, this.#hooks.time());
  }

  /** Returns how many sessions expired. */
  onTick(): number {
    const time = this.#hooks.time();
    const { expiredCount } = this.preparer;
    // These changes have room of their own beside that of requests, so no flood of requests keeps a
    // dead session's ephemerals alive.
    const left = this.#limits.overlaySizeMax + CHANGES_PER_TICK_MAX - this.preparer.overlaySize;
    const most = Math.min(CHANGES_PER_TICK_MAX, this.#limits.overlaySizeMax, Math.max(0, left));
    this.preparer.onTick(time, most);
    this.#continueEnds();
    if (time.nowMs >= this.#nextExpiredMs && this.#logExpired()) {
      this.#nextExpiredMs = time.nowMs + LOG_INTERVAL_MS;
    }
    if (time.nowMs >= this.#nextRefusedMs && this.#logRefused()) {
      this.#nextRefusedMs = time.nowMs + LOG_INTERVAL_MS;
    }
    this.#sendDetaches();
    return this.preparer.expiredCount - expiredCount;
  }

  /** The term is over: logs what would have been logged later. The service is used no more. */
  onTermEnd(): void {
    this.#logExpired();
    this.#logRefused();
  }

  onApplied(zxid: Zxid, txn: Txn): void {
    this.preparer.onApplied(zxid, txn);
    if (this.preparer.endsWaiting > 0) this.#continueEnds();
    this.confirmed.onApplied(zxid);
  }

  /** Syncs and attaches need no room in the overlay: nothing is prepared for them. */
  #hasRoomFor({ message }: Waiting): boolean {
    return message.kind !== 'requests' || this.hasRoom;
  }

  /** Returns whether the whole message is done. */
  #run(head: Waiting): boolean {
    const { origin, message } = head;
    switch (message.kind) {
      case 'requests':
        head.done = this.#onRequests(origin, message.batch.items, head.done);
        return head.done >= message.batch.items.length;
      case 'sync':
        this.#onSync(origin, message);
        return true;
      case 'attach':
        this.#onAttach(origin, message);
        return true;
      default:
        return unreachable(message);
    }
  }

  /** Decides the items from `from` on, at least one, while it may. Returns the next index. */
  #onRequests(origin: PeerId, items: readonly ForwardedRequest[], from: number): number {
    const time = this.#hooks.time();
    let next = from;
    do {
      const item = items[next];
      if (item === undefined) break;
      this.preparer.onRequest(origin, item, time);
      next += 1;
      this.#maybeReadClock(item);
    } while (!this.#isUsedUp && this.hasRoom);
    this.#continueEnds();
    this.#sendDetaches();
    return next;
  }

  /** Reads the clock now and then. The first reading of a turn begins its share. */
  #maybeReadClock({ opcode, body }: ForwardedRequest): void {
    this.#untilReading -= 1;
    const isSmall = opcode !== OpCode.multi && body.length < LARGE_REQUEST_BYTES;
    if (this.#untilReading > 0 && isSmall) return;
    this.#untilReading = REQUESTS_PER_READING;
    const nowMs = this.#timers.nowMs();
    if (Number.isNaN(this.#untilMs)) this.#untilMs = nowMs + this.#limits.shareMs;
    this.#isUsedUp = nowMs >= this.#untilMs;
  }

  /**
   * A client that is told that its session is gone takes its ephemerals for gone, too. So it is
   * told only once a quorum has confirmed this leader, because another one may meanwhile have
   * created the session, or resumed it; and once the end of the session is committed, because the
   * next leader might otherwise lack it. A request for a session that a `beginClose` is ending
   * is not answered; its connection ends, and the client may ask again.
   */
  #onAttach(origin: PeerId, attach: Attach): void {
    const attached = this.preparer.onAttach(origin, attach, this.#hooks.time());
    this.#sendDetaches();
    if (attached === null) return;
    if (attached.valid) this.#hooks.answer(origin, attached);
    else this.confirmed.add({ origin, afterApply: true, answer: () => attached });
  }

  #onSync(origin: PeerId, { request }: SyncRequest): void {
    const answer = (zxid: Zxid) => ({ kind: 'synced', request, zxid }) as const;
    this.confirmed.add({ origin, afterApply: false, answer });
  }

  #onTouch(origin: PeerId, sessions: readonly SessionId[]): void {
    this.preparer.onTouch(origin, sessions, this.#hooks.time());
    this.#sendDetaches();
  }

  /** Returns whether there was anything to log. */
  #logExpired(): boolean {
    const expired = this.preparer.takeExpired();
    if (expired !== null) this.#hooks.onExpired(expired);
    return expired !== null;
  }

  /** Returns whether there was anything to log. */
  #logRefused(): boolean {
    const excesses = this.preparer.takeExcesses();
    for (const one of excesses) this.#hooks.onQuotaExceeded(one);
    const refusals = this.preparer.takeRefusals();
    if (refusals !== null) this.#hooks.onTreeFull(refusals);
    return excesses.length > 0 || refusals !== null;
  }

  /** Prepares further parts of the ends of sessions, as many as may be in flight. */
  #continueEnds(): void {
    if (this.preparer.endsWaiting === 0) return;
    const time = this.#hooks.time();
    while (this.preparer.nextOfEnds(time));
  }

  #sendDetaches(): void {
    for (const { member, ...detach } of this.preparer.takeDetaches()) {
      this.#hooks.answer(member, { kind: 'detach', ...detach });
    }
  }
}
