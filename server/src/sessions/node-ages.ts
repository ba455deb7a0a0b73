/**
 * Determines how long ago, at least, a znode was modified: what the leader compares with a TTL.
 *
 * What this member has seen applied ages by its monotonic clock, whoever led then; no date counts.
 * What was modified before the term may be older than this process. For that, its age by mtime
 * counts too, less what two clocks may be wrong by, but only once a majority of clocks agrees, and
 * by the earliest date on which they agreed in the term. No single clock therefore makes anything
 * older. Pure; there is one for each term, read by the reaper.
 */
import type { Zxid } from '@rookery/protocol';
import type { NodeAges } from '../state/tree-reads.js';
import type { AppliedTimes } from './applied-times.js';
import type { ClockVerdict } from './member-clocks.js';

export interface NodeAgesParts {
  readonly applied: Pick<AppliedTimes, 'ageMs'>;
  /** The last zxid before the term. */
  readonly lastZxid: Zxid;
  readonly toleranceMs: number;
}

export class LeaderNodeAges implements NodeAges {
  readonly #parts: NodeAgesParts;
  #nowMs = 0;
  /** The earliest agreed wall clock less the monotonic one; infinite before there is one. */
  #baseMs = Number.POSITIVE_INFINITY;

  constructor(parts: NodeAgesParts) {
    this.#parts = parts;
  }

  /** Called at each tick, before any age is asked for. */
  tick(nowMs: number, verdict: ClockVerdict): void {
    this.#nowMs = nowMs;
    if (verdict.by !== 'nobody') this.#baseMs = Math.min(this.#baseMs, verdict.baseMs);
  }

  ageMs(mzxid: Zxid, mtimeMs: number): number {
    const { applied, lastZxid, toleranceMs } = this.#parts;
    const seenMs = applied.ageMs(mzxid, this.#nowMs);
    if (mzxid > lastZxid || this.#baseMs === Number.POSITIVE_INFINITY) return seenMs;
    return Math.max(seenMs, this.#nowMs + this.#baseMs - mtimeMs - 2 * toleranceMs);
  }
}
