/**
 * What time it is by the clocks of most members: how a member notices that its own is wrong.
 *
 * Members tell each other their wall clocks with each heartbeat. Each reading is kept as its
 * distance to the own monotonic clock, which never jumps, so a jump of the own wall clock shows at
 * once, and one of another member's with its next heartbeat. A majority of all configured members
 * whose clocks are within the tolerance of each other is believed. Pure: both clocks are arguments,
 * ms. Owned by the driver's ClockKeeper.
 */
import { assert, type PeerId } from '@rookery/protocol';

export interface ClockVerdict {
  /**
   * `own`: the own clock is one of a majority that agree. `others`: a majority agree, and the own
   * one is not of them. `nobody`: there is no majority that agree, or too few have been heard.
   */
  readonly by: 'own' | 'others' | 'nobody';
  /** The wall clock less the monotonic one: of the majority, or the own one without any. */
  readonly baseMs: number;
  /** Of all clocks that are known, the own one included, ascending. */
  readonly basesMs: readonly number[];
}

export interface MemberClocksOptions {
  /** All that are configured, this one included. */
  readonly members: number;
  /** Clocks that differ by no more agree. */
  readonly toleranceMs: number;
}

/** Of the own clock; what it drifts between two looks is far below any tolerance. */
const LOOK_AGAIN_MS = 50;

export class MemberClocks {
  readonly #options: MemberClocksOptions;
  /** Wall clock less own monotonic clock, when it was heard. */
  readonly #bases = new Map<PeerId, number>();
  #verdict: ClockVerdict | null = null;
  #ownBaseMs = 0;

  constructor(options: MemberClocksOptions) {
    assert(options.members > 0, () => `${options.members} members`);
    this.#options = options;
  }

  /** A heartbeat of this member said so; however late it was read, its clock is not behind that. */
  heard(member: PeerId, wallMs: number, nowMs: number): void {
    this.#bases.set(member, wallMs - nowMs);
    this.#verdict = null;
  }

  /** It is not connected any more. */
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
