/**
 * How long proposals of this leader take until a quorum has them, and until they are applied here.
 *
 * One mark for all that is proposed at once, so a busy leader has no more of them than turns. Past
 * MARKS_MAX undecided marks nothing is measured until some are decided. Owned by the counters.
 */
import { Fifo, type Zxid } from '@rookery/protocol';
import type { Durations } from '../measures/durations.js';

/** A leader proposes once a turn at most: many seconds of a quorum that does not answer. */
export const MARKS_MAX = 10_000;

interface Mark {
  readonly through: Zxid;
  readonly count: number;
  readonly proposedMs: number;
}

export class ProposalTimes {
  readonly #acks: Durations;
  readonly #applied: Durations;
  /** In the order of their zxids. */
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

  /** Told as often as a quorum has more. */
  onCommitted(through: Zxid, nowMs: number): void {
    takeThrough(this.#uncommitted, through, (mark) => {
      this.#acks.record(nowMs - mark.proposedMs, mark.count);
    });
  }

  /** What is applied is committed, whether that was told or not. */
  onApplied(through: Zxid, nowMs: number): void {
    this.onCommitted(through, nowMs);
    takeThrough(this.#unapplied, through, (mark) => {
      this.#applied.record(nowMs - mark.proposedMs, mark.count);
    });
  }

  /** Its term has ended. */
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
