/**
 * Who is a quorum: a majority of the configured members, and while their list is being changed, a
 * majority of each list that may still be in force. Pure; an oracle test compares the arithmetic
 * with a plain count.
 */
import type { PeerId } from '@rookery/protocol';

/** How many of `voters` make a quorum. */
export function majorityOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/**
 * The highest value that a quorum has reached: `values` holds one number for each voter that has
 * reported, missing voters count as minus infinity.
 */
export function quorumValue(values: readonly number[], voters: number): number {
  const needed = majorityOf(voters);
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
  readonly #voters: Members;
  #own: readonly Members[];
  #others: readonly Members[] = NO_LISTS;
  #lists: readonly Members[];

  constructor(voters: Members, former: readonly Members[] = NO_LISTS) {
    this.#voters = voters;
    this.#own = former;
    this.#lists = [voters, ...former];
  }

  /** All of them have their majority in each quorum; the configured one is the first. */
  get lists(): readonly Members[] {
    return this.#lists;
  }

  /** The former lists of this member: others count by them too while it is reachable. */
  get own(): readonly Members[] {
    return this.#own;
  }

  /** The list of members differs from the one that some member served with last. */
  get isChanging(): boolean {
    return this.#lists.length > 1;
  }

  /**
   * The former lists of those who may follow: a leader that does not have its quorum by them might
   * not know of another one that does. Nobody may be asked for them once a leader is established.
   */
  include(others: readonly Members[]): void {
    if (others.length === 0 && this.#others.length === 0) return;
    this.#others = others;
    const known = new Map([this.#voters, ...this.#own, ...others].map((one) => [one.join(), one]));
    this.#lists = [...known.values()];
  }

  /** A leader is established: from now on the configured list alone counts. */
  settle(): void {
    this.#own = NO_LISTS;
    this.#others = NO_LISTS;
    this.#lists = [this.#voters];
  }

  isQuorum(has: (id: PeerId) => boolean): boolean {
    return this.#lists.every((list) => hasMajority(list, has));
  }

  /**
   * As `isQuorum`, for elections and discovery, which count votes: new members have none. So while
   * the list is being changed, all members of a list together are enough of it, as they are for
   * founding: whatever any of them has acknowledged is known there. Of one list at least there must
   * be a majority with votes: where the disks of all majorities are lost, nobody is elected.
   */
  mayElect(hasVote: (id: PeerId) => boolean, isHere: (id: PeerId) => boolean): boolean {
    const lacking = this.#lists.filter((list) => !hasMajority(list, hasVote));
    return lacking.length < this.#lists.length && lacking.every((list) => list.every(isHere));
  }

  /** The highest value that a quorum has reached; null for a member that has reported none. */
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
