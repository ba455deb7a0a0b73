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

export interface MemberClocksOptions {
  /** The number of configured members, this one included. */
  readonly members: number;
  /** Clocks that differ by no more than this agree. */
  readonly toleranceMs: number;
}

/** How often this member's clock is read again; its drift in between is far below any tolerance. */
const LOOK_AGAIN_MS = 50;

export class MemberClocks {
  readonly #options: MemberClocksOptions;
  /** The wall clock less this member's monotonic clock, at the time when it was heard. */
  readonly #bases = new Map<PeerId, number>();
  #verdict: ClockVerdict | null = null;
  #ownBaseMs = 0;

  constructor(options: MemberClocksOptions) {
    assert(options.members > 0, () => `${options.members} members`);
    this.#options = options;
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
    this.#verdict = verdictOf(ownBaseMs, [...this.#bases.values()], this.#options);
    return this.#verdict;
  }
}

function verdictOf(
  ownMs: number,
  othersMs: readonly number[],
  { members, toleranceMs }: MemberClocksOptions,
): ClockVerdict {
  const basesMs = [ownMs, ...othersMs].sort((one, other) => one - other);
  const quorum = Math.floor(members / 2) + 1;
  let narrowest: readonly number[] | null = null;
  for (let first = 0; first + quorum <= basesMs.length; first++) {
    const agreeing = basesMs.slice(first, first + quorum);
    if (widthOf(agreeing) > toleranceMs) continue;
    if (agreeing.includes(ownMs)) return { by: 'own', baseMs: ownMs, basesMs };
    if (narrowest === null || widthOf(agreeing) < widthOf(narrowest)) narrowest = agreeing;
  }
  if (narrowest === null) return { by: 'nobody', baseMs: ownMs, basesMs };
  return { by: 'others', baseMs: narrowest[quorum >> 1] ?? ownMs, basesMs };
}

function widthOf(ascending: readonly number[]): number {
  return (ascending.at(-1) ?? 0) - (ascending[0] ?? 0);
}
