/**
 * What the core knows of the log: exactly which zxids it holds, and the newest of them in memory.
 *
 * Zxids of one epoch are consecutive, so a log is a few ranges; that makes "do we both have it?"
 * exact (ZOOKEEPER-1154, 2418, 2846). The window holds at least everything not yet delivered.
 * Never touches a disk: `durable` only follows the tickets.
 */
import {
  assert,
  counterOf,
  epochOf,
  formatZxid,
  type HistorySummary,
  makeZxid,
  type Proposal,
  type Zxid,
} from '@rookery/protocol';
import type { Ticket } from './types.js';

/** A range that grows in place: a new object per proposal would be garbage on the hottest path. */
interface GrowingRange {
  epoch: number;
  first: number;
  last: number;
}

/** Object, view and numbers of one proposal, measured in heap snapshots. */
const PROPOSAL_BYTES = 400;

interface DurabilityMark {
  readonly ticket: Ticket;
  readonly zxid: Zxid;
}

export class History {
  #base: Zxid;
  #ranges: GrowingRange[];
  #last: Zxid;
  #durable: Zxid;
  #marks: DurabilityMark[] = [];
  /** Proposals after `#windowBase`, oldest at `#head`. */
  #window: Proposal[] = [];
  #head = 0;
  #windowBase: Zxid;
  #windowBytes = 0;

  constructor(summary: HistorySummary, applied: Zxid, suffix: readonly Proposal[]) {
    this.#base = summary.base;
    this.#ranges = summary.ranges.map((range) => ({ ...range }));
    this.#last = lastOf(summary);
    this.#windowBase = applied;
    let previous = applied;
    for (const proposal of suffix) {
      assertChained(proposal, previous);
      this.#keep(proposal);
      previous = proposal.zxid;
    }
    assert(
      previous === this.#last,
      () => `the log ends at ${formatZxid(this.#last)}, its suffix at ${formatZxid(previous)}`,
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
  /** What comes after this zxid is in memory. */
  get windowBase(): Zxid {
    return this.#windowBase;
  }
  get summary(): HistorySummary {
    return { base: this.#base, ranges: this.#ranges.map((range) => ({ ...range })) };
  }

  append(proposals: readonly Proposal[], ticket: Ticket): void {
    for (const proposal of proposals) {
      assertChained(proposal, this.#last);
      extendRanges(this.#ranges, proposal.zxid);
      this.#keep(proposal);
      this.#last = proposal.zxid;
    }
    this.#marks.push({ ticket, zxid: this.#last });
  }

  /** Forgets everything after `after`; completions of what is forgotten vouch for nothing more. */
  truncate(after: Zxid): void {
    assert(
      this.has(after),
      () => `truncation after ${formatZxid(after)}, which the log does not hold`,
    );
    assert(after >= this.#windowBase, 'truncation below what was delivered');
    while (this.#window.length > this.#head) {
      const newest = this.#window[this.#window.length - 1];
      if (newest === undefined || newest.zxid <= after) break;
      this.#windowBytes -= heldBytes(newest);
      this.#window.pop();
    }
    this.#ranges = cutRanges(this.#ranges, after);
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
    this.#window = [];
    this.#head = 0;
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
   * The newest zxid that both logs hold, or -1. Below it both are equal (Zab's prefix property).
   */
  commonPoint(other: HistorySummary): Zxid {
    return commonPoint({ base: this.#base, ranges: this.#ranges }, other);
  }

  /** The proposals in (after, through], which must be in memory. */
  slice(after: Zxid, through: Zxid): readonly Proposal[] {
    assert(after >= this.#windowBase, () => `${formatZxid(after)} is older than the window`);
    const from = this.#indexAfter(after);
    const to = this.#indexAfter(through);
    return from >= to ? [] : this.#window.slice(from, to);
  }

  /** Lets go of delivered proposals beyond `bytesMax`. */
  trim(delivered: Zxid, bytesMax: number): void {
    while (this.#windowBytes > bytesMax) {
      const oldest = this.#window[this.#head];
      if (oldest === undefined || oldest.zxid > delivered) break;
      this.#windowBytes -= heldBytes(oldest);
      this.#windowBase = oldest.zxid;
      this.#head += 1;
    }
    if (this.#head > 1024 && this.#head * 2 > this.#window.length) {
      this.#window = this.#window.slice(this.#head);
      this.#head = 0;
    }
  }

  #keep(proposal: Proposal): void {
    this.#window.push(proposal);
    this.#windowBytes += heldBytes(proposal);
  }

  #indexAfter(zxid: Zxid): number {
    let low = this.#head;
    let high = this.#window.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const proposal = this.#window[middle];
      if (proposal !== undefined && proposal.zxid <= zxid) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function lastOf(summary: HistorySummary): Zxid {
  const range = summary.ranges.at(-1);
  return range === undefined ? summary.base : makeZxid(range.epoch, range.last);
}

export function holds(summary: HistorySummary, zxid: Zxid): boolean {
  if (zxid === summary.base) return true;
  const counter = counterOf(zxid);
  const range = summary.ranges.find((candidate) => candidate.epoch === epochOf(zxid));
  return range !== undefined && range.first <= counter && counter <= range.last;
}

export function commonPoint(mine: HistorySummary, theirs: HistorySummary): Zxid {
  let best = -1;
  if (holds(theirs, mine.base)) best = mine.base;
  if (holds(mine, theirs.base)) best = Math.max(best, theirs.base);
  for (const range of mine.ranges) {
    const other = theirs.ranges.find((candidate) => candidate.epoch === range.epoch);
    if (other === undefined) continue;
    const last = Math.min(range.last, other.last);
    if (last < Math.max(range.first, other.first)) continue;
    best = Math.max(best, makeZxid(range.epoch, last));
  }
  return best;
}

function assertChained(proposal: Proposal, last: Zxid): void {
  assert(
    proposal.previous === last && proposal.zxid > last,
    () =>
      `proposal ${formatZxid(proposal.zxid)} follows ${formatZxid(proposal.previous)}, ` +
      `but the log ends at ${formatZxid(last)}`,
  );
}

function extendRanges(ranges: GrowingRange[], zxid: Zxid): void {
  const epoch = epochOf(zxid);
  const counter = counterOf(zxid);
  const newest = ranges.at(-1);
  if (newest === undefined || newest.epoch < epoch) {
    ranges.push({ epoch, first: counter, last: counter });
    return;
  }
  assert(
    newest.epoch === epoch && newest.last + 1 === counter,
    () => `a hole before ${formatZxid(zxid)}: epoch ${newest.epoch} ends at ${newest.last}`,
  );
  newest.last = counter;
}

function cutRanges(ranges: readonly GrowingRange[], after: Zxid): GrowingRange[] {
  return ranges
    .filter((range) => makeZxid(range.epoch, range.first) <= after)
    .map((range) =>
      makeZxid(range.epoch, range.last) <= after ? range : { ...range, last: counterOf(after) },
    );
}

function dropRanges(ranges: readonly GrowingRange[], base: Zxid): GrowingRange[] {
  return ranges
    .filter((range) => makeZxid(range.epoch, range.last) > base)
    .map((range) =>
      makeZxid(range.epoch, range.first) > base ? range : { ...range, first: counterOf(base) + 1 },
    );
}

/** What a proposal costs in memory: most are smaller than the objects that hold them. */
function heldBytes(proposal: Proposal): number {
  return PROPOSAL_BYTES + proposal.body.length;
}
