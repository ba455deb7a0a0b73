/**
 * What the core knows about the log: exactly which zxids it contains, and the newest proposals.
 *
 * Zxids of one epoch are consecutive, so a log is a few ranges, and whether both of two members
 * have a zxid is known exactly (ZOOKEEPER-1154, 2418, 2846). `window.ts` keeps the newest proposals
 * in memory. Never touches a disk: `durable` only follows the tickets.
 */
import {
  assert,
  counterOf,
  cutRanges,
  epochOf,
  extendRanges,
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
import { ProposalWindow } from './window.js';

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
  readonly #window: ProposalWindow;

  constructor(summary: HistorySummary, applied: Zxid, suffix: readonly ProposalBatch[]) {
    this.#base = summary.base;
    this.#ranges = summary.ranges.map((range) => ({ ...range }));
    this.#last = lastOfRanges(summary);
    this.#window = new ProposalWindow(applied);
    for (const batch of suffix) this.#window.keep(batch);
    const end = suffix.at(-1)?.last ?? applied;
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
    return this.#window.base;
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
    this.#window.keep(batch);
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
   * Forgets everything after `after`; completions of its writes that come later make nothing
   * durable.
   */
  truncate(after: Zxid): void {
    assert(
      this.has(after),
      () => `truncation after ${formatZxid(after)}, which the log does not hold`,
    );
    this.#window.truncate(after);
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
    this.#window.reset(zxid);
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

  /** The proposals in (after, through], which must be in memory; see `ProposalWindow.slice`. */
  slice(after: Zxid, through: Zxid, bytesMax?: number): readonly ProposalBatch[] {
    return this.#window.slice(after, through, bytesMax);
  }

  /** Drops the oldest delivered proposals beyond `bytesMax`. */
  trim(delivered: Zxid, bytesMax: number): void {
    this.#window.trim(delivered, bytesMax);
  }
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
