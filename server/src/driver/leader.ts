/**
 * Serves the clients of all members for one term of leadership: takes their requests, syncs,
 * attaches and touches in the order of their arrival. RequestPreparer judges who may speak
 * for a session and decides the requests; their transactions are gathered into batches
 * (ProposalBatcher). Answers that need a quorum's confirmation wait in ConfirmedAnswers.
 *
 * Each turn does as much as fits its share: the messages of all members may hold many thousands of
 * operations, and decided in one turn they would delay heartbeats until the followers elect another
 * leader. Only reports of touched sessions overtake the rest, because leases run out meanwhile.
 * Requests also wait while the overlay is at its bound, as with a slow disk or quorum. Most of the
 * time nothing waits. The driver proposes the batches at the end of a turn. An answer goes to the
 * member that asked, which may be this one. A new term has a new service.
 */
import {
  type Attach,
  BatchWriter,
  Fifo,
  type ForwardedRequest,
  OpCode,
  type PeerId,
  type ProposalBatch,
  type SyncRequest,
  type Touch,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import { prefixedHex } from '../net/four-letter/format.js';
import type { ProposalSizes } from '../net/member-view.js';
import type { Timers } from '../net/timers.js';
import type { ForLeader } from '../pipeline/outbox.js';
import type { TxnSink } from '../pipeline/prepare.js';
import { type LeaderTime, RequestPreparer, type TermStart } from '../pipeline/request-preparer.js';
import { atMost } from '../state/at-most.js';
import type { SessionId, Txn } from '../state/txn.js';
import { txnBytesOf, writeTxn } from '../state/txn-codec.js';
import type { Answer, DriverActions, DriverParts } from './parts.js';

/** A message of a member, this one included, to its leader. */
export type MessageToLeader = ForLeader | Touch;

interface Waiting {
  readonly origin: PeerId;
  readonly message: ForLeader;
  /** The number of its requests that are decided. */
  done: number;
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
  readonly #parts: DriverParts;
  readonly #driver: DriverActions;
  readonly #time: () => LeaderTime;
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
    parts: DriverParts,
    driver: DriverActions,
    preparer: RequestPreparer,
    batcher: ProposalBatcher,
    time: () => LeaderTime,
  ) {
    this.preparer = preparer;
    this.batcher = batcher;
    this.#parts = parts;
    this.#driver = driver;
    this.#time = time;
    this.confirmed = new ConfirmedAnswers(driver, preparer.txns.zxids.last);
  }

  /** Whether a further request may be prepared: the overlay is bounded. */
  get hasRoom(): boolean {
    return this.preparer.txns.overlay.size < this.#parts.options.overlaySizeMax;
  }

  /** Whether the next turn has something to do. Requests that wait for the overlay do not count. */
  get hasMore(): boolean {
    const head = this.#waiting.first;
    return head !== undefined && this.#hasRoomFor(head);
  }

  /** Live sessions with the time until they expire, read lazily, for reports. */
  *sessionExpiries(): Generator<{ readonly id: SessionId; readonly inMs: number }> {
    const { nowMs } = this.#time();
    const { leases } = this.preparer;
    for (const { session, deadlineMs } of atMost(leases.count, leases.deadlines())) {
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
    this.preparer.onMemberGone(member, this.#time());
  }

  /** Does nothing if the level is already being raised to this one. */
  raiseLevel(level: number): void {
    this.preparer.raiseLevel(level, this.#time());
  }

  /** Returns how many sessions expired. */
  onTick(): number {
    const time = this.#time();
    const { overlaySizeMax } = this.#parts.options;
    const { expiredCount } = this.preparer;
    // These changes have room of their own beside that of requests, so no flood of requests keeps a
    // dead session's ephemerals alive.
    const left = overlaySizeMax + CHANGES_PER_TICK_MAX - this.preparer.txns.overlay.size;
    const most = Math.min(CHANGES_PER_TICK_MAX, overlaySizeMax, Math.max(0, left));
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
    if (this.preparer.ends.waiting > 0) this.#continueEnds();
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
    const time = this.#time();
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
    const { timers, options } = this.#parts;
    const nowMs = timers.nowMs();
    if (Number.isNaN(this.#untilMs)) this.#untilMs = nowMs + options.leaderShareMsMax;
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
    const attached = this.preparer.onAttach(origin, attach, this.#time());
    this.#sendDetaches();
    if (attached === null) return;
    if (attached.valid) this.#driver.answer(origin, attached);
    else this.confirmed.add({ origin, afterApply: true, answer: () => attached });
  }

  #onSync(origin: PeerId, { request }: SyncRequest): void {
    const answer = (zxid: Zxid) => ({ kind: 'synced', request, zxid }) as const;
    this.confirmed.add({ origin, afterApply: false, answer });
  }

  #onTouch(origin: PeerId, sessions: readonly SessionId[]): void {
    this.preparer.onTouch(origin, sessions, this.#time());
    this.#sendDetaches();
  }

  /** Returns whether there was anything to log. */
  #logExpired(): boolean {
    const expired = this.preparer.expired.take();
    if (expired === null) return false;
    const { count, sessions } = expired;
    const named = sessions.map((one) => ({ ...one, session: prefixedHex(one.session) }));
    this.#parts.logger.info({ count, sessions: named }, 'sessions.expired');
    return true;
  }

  /** Returns whether there was anything to log. */
  #logRefused(): boolean {
    const { logger, treeBound } = this.#parts;
    const { quotas, room } = this.preparer.txns;
    const excesses = quotas.takeExcesses();
    for (const excess of excesses) logger.warn({ ...excess }, 'quota.exceeded');
    const refusals = room.takeRefusals();
    if (refusals !== null) treeBound.onRefused(refusals);
    return excesses.length > 0 || refusals !== null;
  }

  /** Prepares further parts of the ends of sessions, as many as may be in flight. */
  #continueEnds(): void {
    if (this.preparer.ends.waiting === 0) return;
    const time = this.#time();
    while (this.preparer.nextOfEnds(time));
  }

  #sendDetaches(): void {
    for (const { member, ...detach } of this.preparer.takeDetaches()) {
      this.#driver.answer(member, { kind: 'detach', ...detach });
    }
  }
}

interface Unconfirmed {
  readonly origin: PeerId;
  /** Also wait until everything proposed before the question is applied here. */
  readonly afterApply: boolean;
  answer(zxid: Zxid): Answer;
}

interface Unapplied {
  readonly origin: PeerId;
  readonly zxid: Zxid;
  readonly answer: Answer;
}

/**
 * Answers of a leader that need a confirmation by a quorum: to syncs, and that a session is gone.
 *
 * One confirmation serves all that were asked for when it begins. Some of the answers also wait
 * until everything proposed before the question is applied here. Owned by the leader's service.
 */
export class ConfirmedAnswers {
  readonly #driver: DriverActions;
  /** Answers whose confirmation was asked for, by its id. */
  readonly #asked = new Map<number, Unconfirmed[]>();
  #gathering: Unconfirmed[] = [];
  /** Confirmed answers that wait to be applied, in the order of their zxids. */
  #unapplied: Unapplied[] = [];
  #nextConfirm = 1;
  #applied: Zxid;

  /** `applied` is the last zxid that is applied here. */
  constructor(driver: DriverActions, applied: Zxid) {
    this.#driver = driver;
    this.#applied = applied;
  }

  /** The number of answers that wait for a quorum or for being applied. */
  get pending(): number {
    let pending = this.#gathering.length + this.#unapplied.length;
    for (const answers of this.#asked.values()) pending += answers.length;
    return pending;
  }

  /** The answer is sent once the next confirmation has come. */
  add(unconfirmed: Unconfirmed): void {
    this.#gathering.push(unconfirmed);
  }

  /** Asks for one confirmation for all that were added since the last call. */
  ask(): void {
    if (this.#gathering.length === 0) return;
    const id = this.#nextConfirm++;
    this.#asked.set(id, this.#gathering);
    this.#gathering = [];
    this.#driver.step({ kind: 'confirm', id });
  }

  /** `zxid` is the newest that was proposed when the confirmation with this id was asked for. */
  onConfirmed(id: number, zxid: Zxid): void {
    const waiting = this.#asked.get(id) ?? [];
    this.#asked.delete(id);
    for (const { origin, afterApply, answer } of waiting) {
      if (!afterApply || zxid <= this.#applied) this.#driver.answer(origin, answer(zxid));
      else this.#unapplied.push({ origin, zxid, answer: answer(zxid) });
    }
  }

  onApplied(zxid: Zxid): void {
    this.#applied = zxid;
    if (this.#unapplied.length === 0) return;
    const waiting = this.#unapplied;
    const still = waiting.findIndex((one) => one.zxid > zxid);
    const ready = still < 0 ? waiting.length : still;
    this.#unapplied = waiting.slice(ready);
    for (const { origin, answer } of waiting.slice(0, ready)) this.#driver.answer(origin, answer);
  }
}

/**
 * Makes the service of a leader at the beginning of its term, with the rules for writes that follow
 * from the member's options.
 */
export function newLeaderService(
  parts: DriverParts,
  driver: DriverActions,
  term: TermStart,
  time: () => LeaderTime,
): LeaderService {
  const { logger, timers, treeBound } = parts;
  const { leader: options, rootAcl } = parts.options;
  const batcher = new ProposalBatcher(term.lastZxid, timers, () => driver.wake());
  const rules = { ...options, treeBound };
  const preparer = new RequestPreparer(term, rules, batcher, parts.random16, time());
  const service = new LeaderService(parts, driver, preparer, batcher, time);
  // Nothing was ever proposed, so nobody was served by an open root. If this leader is lost before
  // a quorum has its proposal, the next one finds the history as empty, and proposes it again.
  if (term.lastZxid === 0 && rootAcl !== null) {
    preparer.foundEnsemble(rootAcl, time());
    logger.info({ entries: rootAcl.length }, 'ensemble.root_acl');
  }
  return service;
}

/** The number of proposals in a batch from which on waiting for more saves little. */
export const BATCH_MIN = 64;
export const LINGER_MS = 2;
/** Bytes of proposals in one message. The last one may go beyond it. */
const BATCH_BYTES = 512 << 10;

/**
 * Divides the transactions that a leader has prepared in one term into batches, and decides when
 * each is proposed.
 *
 * A transaction is encoded once, in the memory that links and log share. Each batch costs a message
 * to every follower, and mostly a sync and an acknowledgement there, whatever its size. So a small
 * batch lingers while an earlier one still has to be committed and applied here, and grows
 * meanwhile. That costs little, because a disk makes one synced write at a time: the small batch
 * would mostly have waited for an earlier one anyway. It lingers for at most LINGER_MS, because a
 * commit between distant members takes long. A batch of BATCH_MIN proposals never lingers.
 */
export class ProposalBatcher implements TxnSink {
  readonly #timers: Timers;
  readonly #wake: () => void;
  readonly #writer = new BatchWriter();
  /** Full batches. */
  #batches: ProposalBatch[] = [];
  #last: Zxid;
  #sizes: ProposalSizes = { last: -1, min: -1, max: -1 };
  #heldSinceMs: number | null = null;
  #willWake = false;

  /**
   * `last` is the zxid of the last proposal before the term. `wake` runs a turn, at whose end
   * `takeDue` is called again.
   */
  constructor(last: Zxid, timers: Timers, wake: () => void) {
    this.#last = last;
    this.#timers = timers;
    this.#wake = wake;
  }

  /** Sizes of this term's proposals, in bytes; -1 before the first. */
  get sizes(): ProposalSizes {
    return this.#sizes;
  }

  add(zxid: Zxid, txn: Txn): void {
    if (!this.#writer.hasRoomFor(txnBytesOf(txn))) this.#batches.push(this.#writer.take());
    const writer = this.#writer.begin(zxid, this.#last);
    const before = writer.length;
    writeTxn(writer, txn);
    const bytes = writer.length - before;
    writer.endFrame();
    this.#last = zxid;
    // The last proposal may go beyond the bound: `peerFrameBytesMax` has room for it.
    if (this.#writer.bytes > BATCH_BYTES) this.#batches.push(this.#writer.take());
    const { min, max } = this.#sizes;
    const smallest = min < 0 ? bytes : Math.min(min, bytes);
    if (smallest !== min || bytes > max || bytes !== this.#sizes.last) {
      this.#sizes = { last: bytes, min: smallest, max: Math.max(max, bytes) };
    }
  }

  /**
   * Returns what is to be proposed at the end of this turn: everything that was added, in order, in
   * batches of bounded size. Returns null while that lingers. `hasUndelivered` says whether an
   * earlier proposal still has to be committed and applied here.
   */
  takeDue(hasUndelivered: boolean, nowMs: number): readonly ProposalBatch[] | null {
    if (hasUndelivered && this.#lingers(nowMs)) return null;
    this.#heldSinceMs = null;
    if (this.#writer.count > 0) this.#batches.push(this.#writer.take());
    const batches = this.#batches;
    if (batches.length > 0) this.#batches = [];
    return batches;
  }

  #lingers(nowMs: number): boolean {
    let proposals = this.#writer.count;
    for (const { count } of this.#batches) proposals += count;
    const since = this.#heldSinceMs ?? nowMs;
    const leftMs = LINGER_MS - (nowMs - since);
    if (proposals === 0 || proposals >= BATCH_MIN || leftMs <= 0) return false;
    this.#heldSinceMs = since;
    // Timers count in whole milliseconds.
    this.#wakeIn(Math.ceil(leftMs));
    return true;
  }

  /** Keeps one timer at a time. One of an earlier batch may fire early, which does no harm. */
  #wakeIn(ms: number): void {
    if (this.#willWake) return;
    this.#willWake = true;
    this.#timers.after(ms, () => {
      this.#willWake = false;
      if (this.#heldSinceMs !== null) this.#wake();
    });
  }
}
