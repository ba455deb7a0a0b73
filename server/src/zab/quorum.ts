/**
 * Quorums: a majority of the configured members and, while their list is being changed, a majority
 * of each list that may still be in force. Pure.
 */
import type { PeerId } from '@rookery/protocol';

/** How many of `members` make a quorum. */
export function majorityOf(members: number): number {
  return Math.floor(members / 2) + 1;
}

/**
 * The highest value that a quorum has reached: `values` holds one number for each member that has
 * reported, missing members count as minus infinity.
 */
export function quorumValue(values: readonly number[], members: number): number {
  const needed = majorityOf(members);
  if (values.length < needed) return Number.NEGATIVE_INFINITY;
  const sorted = [...values].sort((a, b) => b - a);
  return sorted[needed - 1] ?? Number.NEGATIVE_INFINITY;
}

type Members = readonly PeerId[];

const NO_LISTS: readonly Members[] = [];

/**
 * The lists of members of which a majority each is needed: the configured one, and while it differs
 * from what this member served with, the former ones too. All sites of the core that count a quorum
 * ask this object, so they change from joint quorums to simple ones at one moment.
 */
export class Quorums {
  readonly #members: Members;
  #former: readonly Members[];
  #others: readonly Members[] = NO_LISTS;
  #lists: readonly Members[];

  constructor(members: Members, former: readonly Members[] = NO_LISTS) {
    this.#members = members;
    this.#former = former;
    this.#lists = [members, ...former];
  }

  /** The lists of which each quorum has a majority; the configured one is the first. */
  get lists(): readonly Members[] {
    return this.#lists;
  }

  /** The former lists of this member. While it is reachable, others count by them, too. */
  get own(): readonly Members[] {
    return this.#former;
  }

  /** Whether some member last served with another list of members. */
  get isChanging(): boolean {
    return this.#lists.length > 1;
  }

  /**
   * Adds the former lists of possible followers. A leader without a quorum by those lists might not
   * know of another leader that has one. Not to be called once a leader is established.
   */
  include(others: readonly Members[]): void {
    if (others.length === 0 && this.#others.length === 0) return;
    this.#others = others;
    const all = [this.#members, ...this.#former, ...others];
    this.#lists = [...new Map(all.map((one) => [one.join(), one])).values()];
  }

  /** Called when a leader is established. From then on only the configured list counts. */
  settle(): void {
    this.#former = NO_LISTS;
    this.#others = NO_LISTS;
    this.#lists = [this.#members];
  }

  isQuorum(has: (id: PeerId) => boolean): boolean {
    return this.#lists.every((list) => hasMajority(list, has));
  }

  /**
   * The same as `isQuorum` for elections and discovery, which count votes, and new members have
   * none. So while the list is being changed, all members of a list together also suffice, as they
   * do for founding: whatever any of them acknowledged is known there. At least one list must have
   * a majority with votes, so nobody is elected if the disks of all majorities are lost.
   */
  mayElect(hasVote: (id: PeerId) => boolean, isHere: (id: PeerId) => boolean): boolean {
    const lacking = this.#lists.filter((list) => !hasMajority(list, hasVote));
    return lacking.length < this.#lists.length && lacking.every((list) => list.every(isHere));
  }

  /** The highest value that a quorum has reached. `of` is null for who has reported none. */
  value(of: (id: PeerId) => number | null): number {
    let reached = Number.POSITIVE_INFINITY;
    for (const list of this.#lists) {
      const values: number[] = [];
      for (const id of list) {
        const value = of(id);
        if (value !== null) values.push(value);
      }
      reached = Math.min(reached, quorumValue(values, list.length));
    }
    return reached;
  }
}

function hasMajority(list: readonly PeerId[], has: (id: PeerId) => boolean): boolean {
  let count = 0;
  for (const id of list) if (has(id)) count += 1;
  return count >= majorityOf(list.length);
}
