/**
 * What a leader does for the clients of all members during one term: it serves requests, syncs,
 * attaches and touches.
 *
 * Prepared transactions are collected in the order of their requests, and the driver proposes them
 * at the end of a turn. An answer goes to the member that asked, which may be this one. A new term
 * has a new service.
 */

import {
  type Attach,
  type Attached,
  BatchWriter,
  type Detach,
  type ForwardedRequest,
  type PeerId,
  type ProposalBatch,
  type Synced,
  type SyncRequest,
  type Zxid,
} from '@rookery/protocol';
import type { ProposalSizes } from '../net/member-view.js';
import type { QuotaExcess } from '../pipeline/quota-guard.js';
import type { LeaderTime, PreparedTxn, RequestPreparer } from '../pipeline/request-preparer.js';
import type { TreeRefusals } from '../pipeline/tree-room.js';
import type { Expiries } from '../sessions/expiries.js';
import { atMost } from '../state/at-most.js';
import type { SessionId, Txn } from '../state/txn.js';
import { txnBytesOf, writeTxn } from '../state/txn-codec.js';

export type Answer = Attached | Detach | Synced;

export interface LeaderServiceHooks {
  time(): LeaderTime;
  /** Logs which sessions have expired. */
  onExpired(expiries: Expiries): void;
  /** Logs that a quota is exceeded. */
  onQuotaExceeded(excess: QuotaExcess): void;
  /** Logs that writes were refused because the tree is at its bound. */
  noRoom(refusals: TreeRefusals): void;
  /** Asks the core to confirm with a quorum that this member still leads. */
  confirm(id: number): void;
  /** Sends an answer to another member by its link, or to this one's pipeline. */
  answer(member: PeerId, answer: Answer): void;
}

/** Which part of a message is to be done now. */
export interface Share {
  readonly from: number;
  /** Called after each decided request, with its opcode. */
  mayContinue(opcode: number): boolean;
}

const EVERYTHING: Share = { from: 0, mayContinue: () => true };

/** An answer that needs a confirmation by a quorum: a sync, or that a session is gone. */
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

/** Bytes of proposals in one message. The last one may go beyond it. */
const BATCH_BYTES = 512 << 10;
/** How many sessions one tick closes and znodes it reaps. The rest waits for the next tick. */
const CHANGES_PER_TICK_MAX = 1000;
/** Expiries, exceeded quotas and refused writes are logged at most this often. */
const NOTES_MS = 1000;

export class LeaderService {
  readonly preparer: RequestPreparer;
  readonly #inFlightMax: number;
  readonly #hooks: LeaderServiceHooks;
  readonly #syncs = new Map<number, Unconfirmed[]>();
  #gathering: Unconfirmed[] = [];
  /** Confirmed answers that wait to be applied, in the order of their zxids. */
  #unapplied: Unapplied[] = [];
  #nextConfirm = 1;
  #nextNotesMs = 0;
  readonly #writer = new BatchWriter();
  /** Full batches. */
  #batches: ProposalBatch[] = [];
  #last: Zxid;
  #applied: Zxid;
  /** Sizes of this term's proposals, in bytes; -1 before the first. */
  #sizes: ProposalSizes = { last: -1, min: -1, max: -1 };

  constructor(
    preparer: RequestPreparer,
    hooks: LeaderServiceHooks,
    inFlightMax: number = Number.POSITIVE_INFINITY,
  ) {
    this.preparer = preparer;
    this.#inFlightMax = inFlightMax;
    this.#hooks = hooks;
    this.#last = preparer.lastZxid;
    this.#applied = preparer.lastZxid;
  }

  /** Whether a further request may be prepared: the table of what is in flight is bounded. */
  get hasRoom(): boolean {
    return this.preparer.recordsInFlight < this.#inFlightMax;
  }

  /** The number of answers that wait for a quorum or for being applied. */
  get pendingSyncs(): number {
    return this.#syncs.size + this.#gathering.length + this.#unapplied.length;
  }

  get proposalSizes(): ProposalSizes {
    return this.#sizes;
  }

  /** Sessions with the time until they expire, read lazily, for reports. */
  *sessionExpiries(): Generator<{ readonly id: SessionId; readonly inMs: number }> {
    const { nowMs } = this.#hooks.time();
    const { sessionCount } = this.preparer;
    for (const { session, deadlineMs } of atMost(sessionCount, this.preparer.deadlines())) {
      yield { id: session, inMs: deadlineMs - nowMs };
    }
  }

  /** Decides the items from `from` on while `mayContinue`, at least one. Returns the next index. */
  onRequests(
    origin: PeerId,
    items: readonly ForwardedRequest[],
    { from, mayContinue }: Share = EVERYTHING,
  ): number {
    const time = this.#hooks.time();
    let next = from;
    do {
      const item = items[next];
      if (item === undefined) break;
      const prepared = this.preparer.onRequest(origin, item, time);
      if (prepared !== null) this.#collect(prepared);
      next += 1;
    } while (mayContinue(items[next - 1]?.opcode ?? 0));
    this.#continueEnds();
    this.#sendDetaches();
    return next;
  }

  /**
   * A client that is told that its session is gone takes its ephemerals for gone, too. So it is
   * told only once a quorum has confirmed this leader, because another one may meanwhile have
   * created the session, and once the end of the session is committed. A request for a session that
   * is just closing is not answered; its connection ends, and the client may ask again.
   */
  onAttach(origin: PeerId, attach: Attach): void {
    const attached = this.preparer.onAttach(origin, attach, this.#hooks.time());
    // Detaches come first: an older wire version cannot tell which attachment they end.
    this.#sendDetaches();
    if (attached === null) return;
    if (attached.valid) this.#hooks.answer(origin, attached);
    else this.#gathering.push({ origin, afterApply: true, answer: () => attached });
  }

  onSync(origin: PeerId, sync: SyncRequest): void {
    const { request } = sync;
    this.#gathering.push({
      origin,
      afterApply: false,
      answer: (zxid) => ({ kind: 'synced', request, zxid }),
    });
  }

  /** The link of a member was lost, and with it perhaps its last report of touched sessions. */
  onMemberGone(member: PeerId): void {
    this.preparer.onMemberGone(member, this.#hooks.time());
  }

  onTouch(origin: PeerId, sessions: readonly SessionId[]): void {
    this.preparer.onTouch(origin, sessions, this.#hooks.time());
    this.#sendDetaches();
  }

  /** Does nothing if the level is already being raised to this one. */
  raiseLevel(level: number): void {
    const prepared = this.preparer.raiseLevel(level, this.#hooks.time());
    if (prepared !== null) this.#collect(prepared);
  }

  /** Returns how many sessions expired. */
  onTick(): number {
    const time = this.#hooks.time();
    const { expiries } = this.preparer;
    // Not counted as requests: no flood of them keeps a dead session's ephemerals alive.
    const left = this.#inFlightMax + CHANGES_PER_TICK_MAX - this.preparer.recordsInFlight;
    const most = Math.min(CHANGES_PER_TICK_MAX, this.#inFlightMax, Math.max(0, left));
    const changes = this.preparer.onTick(time, most);
    for (const one of changes) this.#collect(one);
    this.#continueEnds();
    if (time.nowMs >= this.#nextNotesMs) {
      this.#nextNotesMs = time.nowMs + NOTES_MS;
      const expired = this.preparer.takeExpiries();
      if (expired !== null) this.#hooks.onExpired(expired);
      for (const one of this.preparer.takeExcesses()) this.#hooks.onQuotaExceeded(one);
      const refusals = this.preparer.takeRefusals();
      if (refusals !== null) this.#hooks.noRoom(refusals);
    }
    this.#sendDetaches();
    return this.preparer.expiries - expiries;
  }

  onApplied(zxid: Zxid, txn: Txn): void {
    this.preparer.onApplied(zxid, txn);
    this.#applied = zxid;
    if (this.preparer.closing > 0) this.#continueEnds();
    if (this.#unapplied.length > 0) this.#answerApplied();
  }

  onConfirmed(id: number, zxid: Zxid): void {
    const waiting = this.#syncs.get(id) ?? [];
    this.#syncs.delete(id);
    for (const { origin, afterApply, answer } of waiting) {
      if (!afterApply || zxid <= this.#applied) this.#hooks.answer(origin, answer(zxid));
      else this.#unapplied.push({ origin, zxid, answer: answer(zxid) });
    }
  }

  /** The number of proposals that `takeBatches` would return. */
  get gathered(): number {
    let gathered = this.#writer.count;
    for (const { count } of this.#batches) gathered += count;
    return gathered;
  }

  /** Returns everything prepared and not proposed yet, in order, in batches of bounded size. */
  takeBatches(): readonly ProposalBatch[] {
    if (this.#writer.count > 0) this.#batches.push(this.#writer.take());
    const batches = this.#batches;
    if (batches.length > 0) this.#batches = [];
    return batches;
  }

  /**
   * Asks for one confirmation for all waiting syncs and attaches. Called after what is prepared has
   * been proposed, because a sync must show everything before it.
   */
  askToConfirm(): void {
    if (this.#gathering.length === 0) return;
    const id = this.#nextConfirm++;
    this.#syncs.set(id, this.#gathering);
    this.#gathering = [];
    this.#hooks.confirm(id);
  }

  #collect({ zxid, txn }: PreparedTxn): void {
    if (!this.#writer.hasRoomFor(txnBytesOf(txn))) this.#batches.push(this.#writer.take());
    const writer = this.#writer.begin(zxid, this.#last);
    const before = writer.length;
    writeTxn(writer, txn);
    const last = writer.length - before;
    writer.endFrame();
    this.#last = zxid;
    // A single larger proposal still fits into a frame.
    if (this.#writer.bytes > BATCH_BYTES) this.#batches.push(this.#writer.take());
    const { min, max } = this.#sizes;
    const smallest = min < 0 ? last : Math.min(min, last);
    if (smallest !== min || last > max || last !== this.#sizes.last) {
      this.#sizes = { last, min: smallest, max: Math.max(max, last) };
    }
  }

  /** Prepares further parts of the ends of sessions, as many as may be in flight. */
  #continueEnds(): void {
    if (this.preparer.closing === 0) return;
    const time = this.#hooks.time();
    for (;;) {
      const prepared = this.preparer.nextOfEnds(time);
      if (prepared === null) return;
      this.#collect(prepared);
    }
  }

  #answerApplied(): void {
    const waiting = this.#unapplied;
    const still = waiting.findIndex(({ zxid }) => zxid > this.#applied);
    const ready = still < 0 ? waiting.length : still;
    this.#unapplied = waiting.slice(ready);
    for (const { origin, answer } of waiting.slice(0, ready)) this.#hooks.answer(origin, answer);
  }

  #sendDetaches(): void {
    for (const { member, ...detach } of this.preparer.takeDetaches()) {
      this.#hooks.answer(member, { kind: 'detach', ...detach });
    }
  }
}
