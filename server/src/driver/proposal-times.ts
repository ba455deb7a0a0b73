/**
 * Measures how long this leader's proposals take until a quorum has logged them and until they are
 * applied here.
 *
 * There is one mark for each batch, mostly one in a turn. Beyond MARKS_MAX marks that are not
 * applied, nothing is measured until some are. Owned by the counters.
 */
import { Fifo, type Zxid } from '@rookery/protocol';
import type { Durations } from '../measures/durations.js';

/** Enough for many seconds without an answer of a quorum. */
export const MARKS_MAX = 10_000;

interface Mark {
  readonly through: Zxid;
  readonly count: number;
  readonly proposedMs: number;
}

export class ProposalTimes {
  readonly #acks: Durations;
  readonly #applied: Durations;
  /** Marks in the order of their zxids. */
  readonly #uncommitted = new Fifo<Mark>();
  readonly #unapplied = new Fifo<Mark>();

  constructor(acks: Durations, applied: Durations) {
    this.#acks = acks;
    this.#applied = applied;
  }

  onProposed(through: Zxid, count: number, nowMs: number): void {
    if (this.#unapplied.length >= MARKS_MAX) return;
    const mark = { through, count, proposedMs: nowMs };
    this.#uncommitted.push(mark);
    this.#unapplied.push(mark);
  }

  /** Called each time that a quorum has logged more. */
  onCommitted(through: Zxid, nowMs: number): void {
    takeThrough(this.#uncommitted, through, (mark) => {
      this.#acks.record(nowMs - mark.proposedMs, mark.count);
    });
  }

  /** Whatever is applied is also committed. */
  onApplied(through: Zxid, nowMs: number): void {
    this.onCommitted(through, nowMs);
    takeThrough(this.#unapplied, through, (mark) => {
      this.#applied.record(nowMs - mark.proposedMs, mark.count);
    });
  }

  /** Called when the term ends. */
  clear(): void {
    this.#uncommitted.clear();
    this.#unapplied.clear();
  }
}

function takeThrough(marks: Fifo<Mark>, through: Zxid, take: (mark: Mark) => void): void {
  for (let mark = marks.first; mark !== undefined; mark = marks.first) {
    if (mark.through > through) return;
    marks.shift();
    take(mark);
  }
}
