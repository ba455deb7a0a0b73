/**
 * Records when this member applied what, by its own monotonic clock: the age of a change without
 * any date.
 *
 * It is a list of marks, each of which says that by then everything up to a zxid was applied. The
 * age of a zxid is that of the first mark that covers it, so an age is never overestimated. It is
 * underestimated by the distance of two marks, which is a tick for a young one and at most 1/32 of
 * the age for an old one. That keeps the list short however long the process lives. Pure: time is
 * an argument, in ms.
 */
import { assert, formatZxid, type Zxid } from '@rookery/protocol';
import type { NodeAges } from '../state/tree.js';
import type { ClockVerdict } from './member-clocks.js';

interface Mark {
  readonly zxid: Zxid;
  readonly atMs: number;
}

/** Two marks of an age may be apart by this part of the age. */
const SHARE = 32;
/** Ages from a tick to a hundred years take about half of this. */
const MARKS_MAX = 2_048;

export class AppliedTimes {
  /**
   * Zxids and times increase. Never empty: what came before the first mark is as old as that mark.
   */
  #marks: Mark[];
  #last: { zxid: Zxid; atMs: number; timeMs: number };

  /** `timeMs` is the time of the last transaction. */
  constructor(zxid: Zxid, timeMs: number, nowMs: number) {
    this.#marks = [{ zxid, atMs: nowMs }];
    this.#last = { zxid, atMs: nowMs, timeMs };
  }

  get count(): number {
    return this.#marks.length;
  }

  /** When the last transaction was known to be applied, and the time that it carries. */
  get last(): { readonly atMs: number; readonly timeMs: number } {
    return this.#last;
  }

  /** By now everything up to `zxid`, whose transaction carries `timeMs`, is applied. */
  mark(zxid: Zxid, timeMs: number, nowMs: number): void {
    if (zxid === this.#last.zxid) return;
    const before = this.#last.zxid;
    assert(zxid > before, () => `${formatZxid(zxid)} is applied behind ${formatZxid(before)}`);
    this.#last = { zxid, atMs: nowMs, timeMs };
    this.#marks.push({ zxid, atMs: nowMs });
    if (this.#marks.length >= MARKS_MAX) this.#thin(nowMs);
  }

  /** A snapshot has replaced the state. */
  reset(zxid: Zxid, timeMs: number, nowMs: number): void {
    this.#marks = [{ zxid, atMs: nowMs }];
    this.#last = { zxid, atMs: nowMs, timeMs };
  }

  /** For how long, at least, `zxid` has been applied here; 0 for what no mark covers yet. */
  ageMs(zxid: Zxid, nowMs: number): number {
    const marks = this.#marks;
    let low = 0;
    let high = marks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((marks[middle]?.zxid ?? Number.POSITIVE_INFINITY) < zxid) low = middle + 1;
      else high = middle;
    }
    const mark = marks[low];
    return mark === undefined ? 0 : nowMs - mark.atMs;
  }

  /** A mark stays if without it two others would be too far apart for their age. */
  #thin(nowMs: number): void {
    const kept: Mark[] = [];
    const marks = this.#marks;
    for (let at = marks.length - 1; at >= 0; at--) {
      const mark = marks[at];
      const next = marks[at - 1];
      const behind = kept.at(-1);
      if (mark === undefined) continue;
      const isNeeded =
        next === undefined ||
        behind === undefined ||
        behind.atMs - next.atMs > (nowMs - behind.atMs) / SHARE;
      if (isNeeded) kept.push(mark);
    }
    this.#marks = kept.reverse();
  }
}

/** How long ago zxids were applied here; AppliedTimes implements it. */
interface AppliedAges {
  ageMs(zxid: Zxid, nowMs: number): number;
}

interface Term {
  /** The last zxid before it. */
  readonly lastZxid: Zxid;
  /** Clocks that differ by no more than this agree. */
  readonly toleranceMs: number;
}

/**
 * Determines how long ago, at least, a znode was modified: what the leader compares with a TTL.
 * What this member has seen applied ages by its monotonic clock, whichever member led; no date
 * counts. What was modified before the term may be older than this process. For that, its age by
 * mtime counts too, less what two clocks may be wrong by, but only once a majority of clocks
 * agrees, and by the earliest date on which they agreed in the term. No single clock therefore
 * makes anything older. Pure; there is one for each term, read by the reaper.
 */
export class LeaderNodeAges implements NodeAges {
  readonly #applied: AppliedAges;
  readonly #term: Term;
  #nowMs = 0;
  /** The earliest agreed wall clock less the monotonic one; infinite before there is one. */
  #baseMs = Number.POSITIVE_INFINITY;

  constructor(applied: AppliedAges, term: Term) {
    this.#applied = applied;
    this.#term = term;
  }

  /** Called at each tick, before any age is asked for. */
  tick(nowMs: number, verdict: ClockVerdict): void {
    this.#nowMs = nowMs;
    if (verdict.by !== 'nobody') this.#baseMs = Math.min(this.#baseMs, verdict.baseMs);
  }

  ageMs(mzxid: Zxid, mtimeMs: number): number {
    const { lastZxid, toleranceMs } = this.#term;
    const seenMs = this.#applied.ageMs(mzxid, this.#nowMs);
    if (mzxid > lastZxid || this.#baseMs === Number.POSITIVE_INFINITY) return seenMs;
    return Math.max(seenMs, this.#nowMs + this.#baseMs - mtimeMs - 2 * toleranceMs);
  }
}
