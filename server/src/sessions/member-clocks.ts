/**
 * Determines the time by the clocks of most members, and thereby notices that this member's own
 * clock is wrong.
 *
 * Members send each other their wall clocks with each heartbeat. Each reading is stored as its
 * distance to this member's monotonic clock, which never jumps. A jump of this member's wall clock
 * thus shows at once, and one of another member's with its next heartbeat. A majority of all
 * configured members whose clocks are within the tolerance of each other is believed. Pure: both
 * clocks are arguments, in ms. Owned by the driver's ClockKeeper.
 */
import { assert, type PeerId } from '@rookery/protocol';

export interface ClockVerdict {
  /**
   * `own`: this member's clock belongs to a majority that agrees. `others`: a majority agrees,
   * without this member. `nobody`: no majority agrees, or too few clocks are known.
   */
  readonly by: 'own' | 'others' | 'nobody';
  /**
   * The wall clock less the monotonic one: the majority's, or this member's if there is no
   * majority.
   */
  readonly baseMs: number;
  /** The same for all clocks that are known, this member's included, in ascending order. */
  readonly basesMs: readonly number[];
}

/** How often this member's clock is read again; its drift in between is far below any tolerance. */
const LOOK_AGAIN_MS = 50;

export class MemberClocks {
  readonly #quorum: number;
  readonly #toleranceMs: number;
  /** The wall clock less this member's monotonic clock, at the time when it was heard. */
  readonly #bases = new Map<PeerId, number>();
  #verdict: ClockVerdict | null = null;
  #ownBaseMs = 0;

  /**
   * `members` is the number of configured members, this one included. Clocks that differ by no more
   * than the tolerance agree.
   */
  constructor({ members, toleranceMs }: { members: number; toleranceMs: number }) {
    assert(members > 0, () => `${members} members`);
    this.#quorum = Math.floor(members / 2) + 1;
    this.#toleranceMs = toleranceMs;
  }

  /**
   * A heartbeat of `member` contained this time. It may be read late, so the clock of that member
   * is at this time or ahead of it.
   */
  heard(member: PeerId, wallMs: number, nowMs: number): void {
    this.#bases.set(member, wallMs - nowMs);
    this.#verdict = null;
  }

  /** The member is no longer connected. */
  forget(member: PeerId): void {
    if (this.#bases.delete(member)) this.#verdict = null;
  }

  /** Cheap while nothing has changed. */
  judge(nowMs: number, ownWallMs: number): ClockVerdict {
    const ownBaseMs = ownWallMs - nowMs;
    if (this.#verdict !== null && Math.abs(ownBaseMs - this.#ownBaseMs) <= LOOK_AGAIN_MS) {
      return this.#verdict;
    }
    this.#ownBaseMs = ownBaseMs;
    this.#verdict = this.#verdictOf(ownBaseMs);
    return this.#verdict;
  }

  #verdictOf(ownMs: number): ClockVerdict {
    const basesMs = [ownMs, ...this.#bases.values()].sort((one, other) => one - other);
    let narrowest: readonly number[] | null = null;
    for (let first = 0; first + this.#quorum <= basesMs.length; first++) {
      const agreeing = basesMs.slice(first, first + this.#quorum);
      if (widthOf(agreeing) > this.#toleranceMs) continue;
      if (agreeing.includes(ownMs)) return { by: 'own', baseMs: ownMs, basesMs };
      if (narrowest === null || widthOf(agreeing) < widthOf(narrowest)) narrowest = agreeing;
    }
    if (narrowest === null) return { by: 'nobody', baseMs: ownMs, basesMs };
    return { by: 'others', baseMs: narrowest[this.#quorum >> 1] ?? ownMs, basesMs };
  }
}

function widthOf(ascending: readonly number[]): number {
  return (ascending.at(-1) ?? 0) - (ascending[0] ?? 0);
}

export interface TermTimeStart {
  /** Clocks that differ by no more than this agree. */
  readonly toleranceMs: number;
  /** The time of the last transaction before the term; 0 if there is none. */
  readonly lastMs: number;
  /** When that transaction was applied here, by the monotonic clock. */
  readonly lastAtMs: number;
}

/** A step of the time that readers of mtimes should know of. Both are in ms since 1970. */
interface TimeStep {
  /** What the time would have been without the step. */
  readonly fromWallMs: number;
  readonly toWallMs: number;
}

/**
 * The time of a leader's transactions, for one term.
 *
 * It is the leader's wall clock while that belongs to a majority of members' clocks that agree, and
 * the majority's otherwise: a jump of the leader's clock is not followed. Where no majority agrees,
 * or too few clocks are known, it is the clock that is nearest to what the last transaction leads
 * one to expect. It never falls, with one exception: a majority agrees that it has been wrong by
 * more than clocks may differ. Pure; the driver creates one for each term and asks it for each
 * batch of requests.
 */
export class TermTime {
  readonly #start: TermTimeStart;
  #lastMs: number;
  /**
   * The next time is expected at this plus the monotonic clock; null if there was no transaction.
   */
  #expectedBaseMs: number | null;
  /** Whether a time was read in this term, so that a jump ahead is told from time that passed. */
  #hasRead = false;
  #step: TimeStep | null = null;

  constructor(start: TermTimeStart) {
    this.#start = start;
    this.#lastMs = start.lastMs;
    this.#expectedBaseMs = start.lastMs === 0 ? null : start.lastMs - start.lastAtMs;
  }

  /** The time of a transaction that is prepared now, in ms since 1970. */
  read(nowMs: number, wallMs: number, verdict: ClockVerdict): number {
    const { toleranceMs } = this.#start;
    const baseMs = this.#baseOf(wallMs - nowMs, verdict);
    const expectedMs = this.#expectedBaseMs ?? baseMs;
    this.#expectedBaseMs = baseMs;
    // The last transaction before the term may have been decided long before it was applied here:
    // while the ensemble was down, or had no quorum. So a time that is ahead of it need not have
    // jumped, but one that is behind it has.
    const isAhead = this.#hasRead && baseMs > expectedMs + toleranceMs;
    this.#hasRead = true;
    const timeMs = Math.floor(nowMs + baseMs);
    const isBack = timeMs < this.#lastMs - toleranceMs;
    if (timeMs < this.#lastMs && !(isBack && verdict.by !== 'nobody')) {
      return this.#lastMs;
    }
    if (isAhead || isBack || baseMs < expectedMs - toleranceMs) {
      this.#step ??= {
        fromWallMs: isBack ? this.#lastMs : Math.floor(nowMs + expectedMs),
        toWallMs: timeMs,
      };
    }
    this.#lastMs = timeMs;
    return timeMs;
  }

  /** The first step of more than the tolerance since the last call, for the log. */
  takeStep(): TimeStep | null {
    const step = this.#step;
    this.#step = null;
    return step;
  }

  #baseOf(ownBaseMs: number, { by, baseMs, basesMs }: ClockVerdict): number {
    if (by === 'own') return ownBaseMs;
    if (by === 'others') return baseMs;
    const expectedMs = this.#expectedBaseMs;
    if (expectedMs === null) return ownBaseMs;
    const nearest = basesMs.reduce((best, one) =>
      Math.abs(one - expectedMs) < Math.abs(best - expectedMs) ? one : best,
    );
    return nearest;
  }
}

/**
 * A clock for leases. Of the time between two readings it counts at most `stepMaxMs`, so it leaves
 * out the time in which this process was suspended, or busy with one thing.
 *
 * A leader hears no touches meanwhile, and its sessions must not pay for it. ClockKeeper owns the
 * leader's clock, which is read at least at every tick. LocalSessions reads one of its own, at each
 * tick while clients are served.
 */
export class LeaseClock {
  readonly #stepMaxMs: number;
  #lastMs: number | null = null;
  #elapsedMs = 0;

  constructor(stepMaxMs: number) {
    this.#stepMaxMs = stepMaxMs;
  }

  /** Returns the lease time at this reading of a monotonic clock. */
  read(monotonicMs: number): number {
    if (this.#lastMs !== null) {
      const stepMs = Math.max(0, monotonicMs - this.#lastMs);
      this.#elapsedMs += Math.min(stepMs, this.#stepMaxMs);
    }
    this.#lastMs = monotonicMs;
    return this.#elapsedMs;
  }
}
