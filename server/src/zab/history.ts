/**
 * Mirrors the log in memory: exactly which zxids it contains, and its newest proposals.
 *
 * Zxids of one epoch are consecutive, so a log is a few ranges, and whether both of two members
 * have a zxid is known exactly (ZOOKEEPER-1154, 2418, 2846). The window is the end of the log in
 * memory, in the batches in which it was appended: all proposals that are not delivered yet, and as
 * many older ones as fit. Never touches a disk: `durable` only follows the tickets.
 */
import {
  assert,
  counterOf,
  cutRanges,
  epochOf,
  extendRanges,
  Fifo,
  formatZxid,
  type GrowingRanges,
  type HistorySummary,
  holds,
  lastOfRanges,
  makeZxid,
  type ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import type { Ticket } from './types.js';

/** The memory of a batch besides its bytes. */
const BATCH_BYTES = 380;

interface DurabilityMark {
  readonly ticket: Ticket;
  readonly zxid: Zxid;
}

export class History {
  #base: Zxid;
  #ranges: GrowingRanges;
  #last: Zxid;
  #durable: Zxid;
  #marks: DurabilityMark[] = [];
  /** The window, the oldest first. */
  readonly #batches = new Fifo<ProposalBatch>();
  #windowBase: Zxid;
  #windowBytes = 0;

  constructor(summary: HistorySummary, applied: Zxid, suffix: readonly ProposalBatch[]) {
    this.#base = summary.base;
    this.#ranges = summary.ranges.map((range) => ({ ...range }));
    this.#last = lastOfRanges(summary);
    this.#windowBase = applied;
    let end = applied;
    for (const batch of suffix) {
      assert(batch.previous === end, () => `the suffix goes on after ${formatZxid(end)}`);
      this.#keep(batch);
      end = batch.last;
    }
    assert(
      end === this.#last,
      () => `the log ends at ${formatZxid(this.#last)}, its suffix at ${formatZxid(end)}`,
    );
    this.#durable = this.#last;
  }

  get base(): Zxid {
    return this.#base;
  }
  get last(): Zxid {
    return this.#last;
  }
  get durable(): Zxid {
    return this.#durable;
  }
  /** Everything after this zxid is in memory. */
  get windowBase(): Zxid {
    return this.#windowBase;
  }
  get summary(): HistorySummary {
    return { base: this.#base, ranges: this.#ranges.map((range) => ({ ...range })) };
  }

  append(batch: ProposalBatch, ticket: Ticket): void {
    assert(
      batch.previous === this.#last,
      () =>
        `proposal ${formatZxid(batch.first)} follows ${formatZxid(batch.previous)}, ` +
        `but the log ends at ${formatZxid(this.#last)}`,
    );
    for (const { first, last } of batch.ranges()) {
      assertNoHole(this.#ranges, first);
      extendRanges(this.#ranges, first, last);
    }
    this.#last = batch.last;
    this.#keep(batch);
    this.#marks.push({ ticket, zxid: this.#last });
  }

  /** Whether the batch continues the log without a gap and has no epoch above `epochMax`. */
  continues(batch: ProposalBatch, epochMax: number): boolean {
    if (batch.previous !== this.#last || epochOf(batch.last) > epochMax) return false;
    let before = this.#last;
    for (const { first, last } of batch.ranges()) {
      const isNext = first === before + 1 && counterOf(first) > 0 && epochOf(first) > 0;
      if (!isNext && epochOf(first) <= epochOf(before)) return false;
      before = last;
    }
    return true;
  }

  /**
   * Forgets everything after `after`, none of which has been delivered. A write that completes
   * later makes durable only what is left of it.
   */
  truncate(after: Zxid): void {
    assert(
      this.has(after),
      () => `truncation after ${formatZxid(after)}, which the log does not hold`,
    );
    assert(after >= this.#windowBase, 'truncation below what was delivered');
    for (let batch = this.#batches.last; batch !== undefined && batch.last > after; ) {
      this.#batches.pop();
      this.#windowBytes -= heldBytes(batch);
      const kept = batch.part(batch.previous, after);
      if (kept !== null) this.#keep(kept);
      batch = this.#batches.last;
    }
    cutRanges(this.#ranges, after);
    this.#last = after;
    this.#durable = Math.min(this.#durable, after);
    this.#marks = this.#marks.map((mark) => ({ ...mark, zxid: Math.min(mark.zxid, after) }));
  }

  /** A snapshot at `zxid` replaced everything. */
  reset(zxid: Zxid): void {
    this.#base = zxid;
    this.#ranges = [];
    this.#last = zxid;
    this.#durable = zxid;
    this.#marks = [];
    this.#batches.clear();
    this.#windowBase = zxid;
    this.#windowBytes = 0;
  }

  onPersisted(ticket: Ticket): void {
    let done = 0;
    for (const mark of this.#marks) {
      if (mark.ticket > ticket) break;
      this.#durable = Math.max(this.#durable, mark.zxid);
      done += 1;
    }
    if (done > 0) this.#marks.splice(0, done);
    assert(
      this.#durable <= this.#last,
      () => `durable ${formatZxid(this.#durable)} beyond last ${formatZxid(this.#last)}`,
    );
  }

  onPurged(base: Zxid): void {
    if (base <= this.#base) return;
    assert(this.has(base), () => `purged up to ${formatZxid(base)}, which the log does not hold`);
    this.#base = base;
    this.#ranges = dropRanges(this.#ranges, base);
  }

  has(zxid: Zxid): boolean {
    return holds({ base: this.#base, ranges: this.#ranges }, zxid);
  }

  /**
   * The newest zxid that both logs contain, or -1. Below it both are equal (Zab's prefix property).
   * A zxid of the epoch `conflict` or a later one does not count, because another leader proposed
   * in it.
   */
  commonPoint(other: HistorySummary, conflict = Number.POSITIVE_INFINITY): Zxid {
    return commonPoint({ base: this.#base, ranges: this.#ranges }, other, conflict);
  }

  /**
   * The proposals in (after, through], which must be in memory. Returns the first ones of them, up
   * to `bytesMax` but at least one.
   */
  slice(after: Zxid, through: Zxid, bytesMax = Number.POSITIVE_INFINITY): readonly ProposalBatch[] {
    assert(after >= this.#windowBase, () => `${formatZxid(after)} is older than the window`);
    const found: ProposalBatch[] = [];
    let leftBytes = bytesMax;
    for (let index = this.#indexAfter(after); index < this.#batches.length; index++) {
      const batch = this.#batches.at(index);
      const part = batch?.part(after, through, leftBytes) ?? null;
      if (part === null || (found.length > 0 && part.bytes.length > leftBytes)) break;
      found.push(part);
      leftBytes -= part.bytes.length;
      if (part.last !== batch?.last) break;
    }
    return found;
  }

  /** Drops from memory the oldest delivered proposals beyond `bytesMax`. */
  trim(delivered: Zxid, bytesMax: number): void {
    while (this.#windowBytes > bytesMax) {
      const oldest = this.#batches.first;
      if (oldest === undefined || oldest.last > delivered) break;
      this.#batches.shift();
      this.#windowBytes -= heldBytes(oldest);
      this.#windowBase = oldest.last;
    }
  }

  #keep(batch: ProposalBatch): void {
    this.#batches.push(batch);
    this.#windowBytes += heldBytes(batch);
  }

  /** The index of the first batch in memory with a proposal after `zxid`. */
  #indexAfter(zxid: Zxid): number {
    let low = 0;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const batch = this.#batches.at(middle);
      if (batch !== undefined && batch.last <= zxid) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function heldBytes(batch: ProposalBatch): number {
  return BATCH_BYTES + batch.bytes.length;
}

export function commonPoint(
  mine: HistorySummary,
  theirs: HistorySummary,
  conflict = Number.POSITIVE_INFINITY,
): Zxid {
  let best = -1;
  if (epochOf(mine.base) < conflict && holds(theirs, mine.base)) best = mine.base;
  if (epochOf(theirs.base) < conflict && holds(mine, theirs.base)) {
    best = Math.max(best, theirs.base);
  }
  for (const range of mine.ranges) {
    if (range.epoch >= conflict) break;
    const other = theirs.ranges.find((candidate) => candidate.epoch === range.epoch);
    if (other === undefined) continue;
    const last = Math.min(range.last, other.last);
    if (last < Math.max(range.first, other.first)) continue;
    best = Math.max(best, makeZxid(range.epoch, last));
  }
  return best;
}

/** Zxids of one epoch are consecutive. */
function assertNoHole(ranges: GrowingRanges, zxid: Zxid): void {
  const newest = ranges.at(-1);
  assert(
    newest === undefined ||
      newest.epoch < epochOf(zxid) ||
      (newest.epoch === epochOf(zxid) && newest.last + 1 === counterOf(zxid)),
    () => `a hole before ${formatZxid(zxid)}: epoch ${newest?.epoch} ends at ${newest?.last}`,
  );
}

function dropRanges(ranges: GrowingRanges, base: Zxid): GrowingRanges {
  return ranges
    .filter((range) => makeZxid(range.epoch, range.last) > base)
    .map((range) =>
      makeZxid(range.epoch, range.first) > base ? range : { ...range, first: counterOf(base) + 1 },
    );
}

interface Held {
  readonly ticket: Ticket;
  readonly run: () => void;
}

/**
 * Durability as an input: numbers the storage outputs and delays actions until they are durable.
 *
 * A delayed action belongs to the role that asked for it, and a change of roles drops all of them.
 * The storage outputs themselves are already on their way, in order, and are never dropped.
 */
export class Tickets {
  #issued: Ticket = 0;
  #persisted: Ticket = 0;
  #held: Held[] = [];

  /** The ticket of the newest storage output. */
  get newest(): Ticket {
    return this.#issued;
  }

  issue(): Ticket {
    this.#issued += 1;
    return this.#issued;
  }

  /** Runs `action` once `ticket` and all before it are durable; at once if they already are. */
  after(ticket: Ticket, action: () => void): void {
    if (ticket <= this.#persisted) action();
    else this.#held.push({ ticket, run: action });
  }

  /** Drops the actions of the role that has ended. */
  forget(): void {
    this.#held = [];
  }

  onPersisted(ticket: Ticket): void {
    assert(ticket <= this.#issued, () => `ticket ${ticket} of ${this.#issued} was never issued`);
    assert(ticket >= this.#persisted, () => `ticket ${ticket} after ${this.#persisted} completed`);
    this.#persisted = ticket;
  }

  /**
   * Runs the due actions one by one. An action may change the role, which drops the rest.
   */
  runDue(stopped: () => boolean): void {
    while (!stopped()) {
      const index = this.#held.findIndex((held) => held.ticket <= this.#persisted);
      if (index < 0) return;
      const [held] = this.#held.splice(index, 1);
      held?.run();
    }
  }
}
