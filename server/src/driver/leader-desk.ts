/**
 * What a leader does for the members' clients, for one term: requests, syncs, attaches, touches.
 *
 * Collects prepared transactions in the order their requests came; the driver proposes them at the
 * end of a turn. Answers go to the origin, which may be this member itself. Dropped with the
 * role.
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
import type { Leadership, LeaderTime, PreparedTxn } from '../pipeline/leadership.js';
import type { TreeRefusals } from '../pipeline/tree-room.js';
import { atMost } from '../state/at-most.js';
import type { SessionId, Txn } from '../state/txn.js';
import { writeTxn } from '../state/txn-codec.js';

export type Answer = Attached | Detach | Synced;

export interface DeskHooks {
  time(): LeaderTime;
  /** A quota is exceeded. */
  note(text: string): void;
  /** Writes were refused because the tree has no room for them. */
  noRoom(refusals: TreeRefusals): void;
  /** Asks the core whether this member still leads. */
  confirm(id: number): void;
  /** To another member by its link, to this one by its pipeline. */
  answer(member: PeerId, answer: Answer): void;
}

/** How much of a message is done now. */
export interface Share {
  readonly from: number;
  /** Asked with the opcode of each request that was decided. */
  mayGoOn(opcode: number): boolean;
}

const EVERYTHING: Share = { from: 0, mayGoOn: () => true };

/** What only a leader that still leads may say: that all is seen, or that a session is gone. */
interface Unconfirmed {
  readonly origin: PeerId;
  /** The answer is kept until this leader has applied what it had proposed when it asked. */
  readonly afterApply: boolean;
  answer(zxid: Zxid): Answer;
}

interface Unapplied {
  readonly origin: PeerId;
  readonly zxid: Zxid;
  readonly answer: Answer;
}

/** Of proposals in one message; the last may go beyond it. */
const BATCH_BYTES = 512 << 10;
/** Sessions closed and znodes reaped by one tick: the rest waits for the next one. */
const CHANGES_PER_TICK_MAX = 1000;
/** Exceeded quotas are told at most this often, each path once. */
const NOTES_MS = 1000;

export class LeaderDesk {
  readonly leadership: Leadership;
  readonly #inFlightMax: number;
  readonly #hooks: DeskHooks;
  readonly #syncs = new Map<number, Unconfirmed[]>();
  #gathering: Unconfirmed[] = [];
  /** Confirmed, in the order of their zxids. */
  #unapplied: Unapplied[] = [];
  #nextConfirm = 1;
  #nextNotesMs = 0;
  readonly #writer = new BatchWriter();
  /** Those that are full. */
  #batches: ProposalBatch[] = [];
  #last: Zxid;
  #applied: Zxid;
  /** Bytes of this term's proposals; -1 before the first. */
  #sizes: ProposalSizes = { last: -1, min: -1, max: -1 };

  constructor(
    leadership: Leadership,
    hooks: DeskHooks,
    inFlightMax: number = Number.POSITIVE_INFINITY,
  ) {
    this.leadership = leadership;
    this.#inFlightMax = inFlightMax;
    this.#hooks = hooks;
    this.#last = leadership.lastZxid;
    this.#applied = leadership.lastZxid;
  }

  /** Whether one more may be prepared: what is prepared and not applied is kept in a table. */
  get hasRoom(): boolean {
    return this.leadership.recordsInFlight < this.#inFlightMax;
  }

  /** Answers that wait for a quorum. */
  get pendingSyncs(): number {
    return this.#syncs.size + this.#gathering.length + this.#unapplied.length;
  }

  get proposalSizes(): ProposalSizes {
    return this.#sizes;
  }

  /** For reports; lazy. */
  *sessionExpiries(): Generator<{ readonly id: SessionId; readonly inMs: number }> {
    const { nowMs } = this.#hooks.time();
    const { sessionCount } = this.leadership;
    for (const { session, deadlineMs } of atMost(sessionCount, this.leadership.deadlines())) {
      yield { id: session, inMs: deadlineMs - nowMs };
    }
  }

  /** The items from `from` on while `mayGoOn`, one at least; returns where it stopped. */
  onRequests(
    origin: PeerId,
    items: readonly ForwardedRequest[],
    { from, mayGoOn }: Share = EVERYTHING,
  ): number {
    const time = this.#hooks.time();
    let next = from;
    do {
      const item = items[next];
      if (item === undefined) break;
      const prepared = this.leadership.onRequest(origin, item, time);
      if (prepared !== null) this.#collect(prepared);
      next += 1;
    } while (mayGoOn(items[next - 1]?.opcode ?? 0));
    this.#goOnWithEnds();
    this.#sendDetaches();
    return next;
  }

  /**
   * That a session is gone is told only once a quorum has confirmed this leader (another one may
   * already have made it) and the closing of it is committed (the next leader might not have it):
   * a client that is told so takes its ephemerals for gone, for good. Who asks for a session that
   * is closing is not answered: its connection ends, and it may ask again.
   */
  onAttach(origin: PeerId, attach: Attach): void {
    const attached = this.leadership.onAttach(origin, attach, this.#hooks.time());
    // First: where the end of an older attachment cannot be told apart, it must not end this one.
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

  /** The link of a member was lost: what it heard of its clients last may not have got through. */
  onMemberGone(member: PeerId): void {
    this.leadership.onMemberGone(member, this.#hooks.time());
  }

  onTouch(origin: PeerId, sessions: readonly SessionId[]): void {
    this.leadership.onTouch(origin, sessions, this.#hooks.time());
    this.#sendDetaches();
  }

  /** Nothing happens while it is being raised to this level already. */
  raiseLevel(level: number): void {
    const prepared = this.leadership.raiseLevel(level, this.#hooks.time());
    if (prepared !== null) this.#collect(prepared);
  }

  /** Returns how many sessions expired. */
  onTick(): number {
    const time = this.#hooks.time();
    const { expiries } = this.leadership;
    // Beyond what requests may fill: no flood of them keeps a dead session's ephemerals alive.
    const left = this.#inFlightMax + CHANGES_PER_TICK_MAX - this.leadership.recordsInFlight;
    const most = Math.min(CHANGES_PER_TICK_MAX, this.#inFlightMax, Math.max(0, left));
    const changes = this.leadership.onTick(time, most);
    for (const one of changes) this.#collect(one);
    this.#goOnWithEnds();
    if (time.nowMs >= this.#nextNotesMs) {
      this.#nextNotesMs = time.nowMs + NOTES_MS;
      for (const note of this.leadership.takeNotes()) this.#hooks.note(note);
      const refusals = this.leadership.takeRefusals();
      if (refusals !== null) this.#hooks.noRoom(refusals);
    }
    this.#sendDetaches();
    return this.leadership.expiries - expiries;
  }

  onApplied(zxid: Zxid, txn: Txn): void {
    this.leadership.onApplied(zxid, txn);
    this.#applied = zxid;
    if (this.leadership.closing > 0) this.#goOnWithEnds();
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

  /** How many proposals `takeBatches` would give. */
  get gathered(): number {
    let gathered = this.#writer.count;
    for (const { count } of this.#batches) gathered += count;
    return gathered;
  }

  /** All that is prepared and not proposed yet, in order, in messages of bounded size. */
  takeBatches(): readonly ProposalBatch[] {
    if (this.#writer.count > 0) this.#batches.push(this.#writer.take());
    const batches = this.#batches;
    if (batches.length > 0) this.#batches = [];
    return batches;
  }

  /**
   * Asks what syncs and attaches wait for, all in one question. Once what is prepared is proposed:
   * a sync must show what came before it.
   */
  askToConfirm(): void {
    if (this.#gathering.length === 0) return;
    const id = this.#nextConfirm++;
    this.#syncs.set(id, this.#gathering);
    this.#gathering = [];
    this.#hooks.confirm(id);
  }

  #collect({ zxid, txn }: PreparedTxn): void {
    const writer = this.#writer.begin(zxid, this.#last);
    const before = writer.length;
    writeTxn(writer, txn);
    const last = writer.length - before;
    writer.endFrame();
    this.#last = zxid;
    // A frame holds any single one beyond it.
    if (this.#writer.bytes > BATCH_BYTES) this.#batches.push(this.#writer.take());
    const { min, max } = this.#sizes;
    const smallest = min < 0 ? last : Math.min(min, last);
    if (smallest !== min || last > max || last !== this.#sizes.last) {
      this.#sizes = { last, min: smallest, max: Math.max(max, last) };
    }
  }

  /** Parts of the ends of sessions, as many as may be in flight. */
  #goOnWithEnds(): void {
    if (this.leadership.closing === 0) return;
    const time = this.#hooks.time();
    for (;;) {
      const prepared = this.leadership.nextOfEnds(time);
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
    for (const { member, ...detach } of this.leadership.takeDetaches()) {
      this.#hooks.answer(member, { kind: 'detach', ...detach });
    }
  }
}
