/**
 * Decides what a full disk means for the ensemble, on the leader and on a member that looks.
 *
 * | situation | result |
 * |---|---|
 * | a quorum has room without the full member | the leader spares the member, which steps out |
 * | the leader is full, a quorum of others has room | the leader hands over |
 * | no quorum has room | the leader spares no member and refuses data |
 * | a member is full while it looks | it waits for a leader with room, for a bounded time |
 *
 * A member that steps out looks and follows no leader that spares it, so it counts in no quorum. It
 * keeps its vote and its promises. The leader decides, not the member, because members that share a
 * disk find it full within the same second. For the same reason, room and shortage count only once
 * they have lasted.
 *
 * Safety does not depend on this file: a full member only abstains. Used by Leading and Looking.
 */
import type { PeerId, VoteMessage } from '@rookery/protocol';
import { counts, type Electorate } from './discovery.js';
import { TRY_AGAIN_MS } from './given-up.js';
import type { Learners } from './learner.js';
import type { Link, Replica } from './replica.js';
import type { LinkId } from './types.js';

/** Longer than members that share a disk can differ: each measures it once a second. */
export const LASTING_MS = 1_500;
/**
 * A full member stands for election after this many failed attempts to follow. The members with
 * room may not reach each other, or their leader may lack history that this member has.
 */
const IN_VAIN_MAX = 3;

export function isFull({ vote }: Link): boolean {
  return vote?.full === true;
}

export function hasRoom(link: Link): boolean {
  return link.vote !== null && !isFull(link);
}

/** The decisions of an established leader. */
export class LeadersRoom {
  /** Full members that the ensemble does without. */
  spares: readonly PeerId[] = [];
  /** Whether writes of data are refused, because a member that must log them has no room. */
  refuses = false;
  /** Full learners while data is refused. */
  full: readonly PeerId[] = [];
  /** Whether this leader is full and a quorum without it has room. */
  mayHandOver = false;
  readonly #replica: Replica;
  readonly #learners: Learners;

  constructor(member: Replica, learners: Learners) {
    this.#replica = member;
    this.#learners = learners;
  }

  judge(): void {
    const { nowMs, isFull: isOwnFull, roomSinceMs, handedOverAtMs, links } = this.#replica;
    const lastingSinceMs = nowMs - LASTING_MS;
    const hasQuorum = this.#haveRoom(nowMs);
    const hasLastingQuorum = this.#haveRoom(lastingSinceMs);
    const full = inOrder([...this.#learners.all()].map(({ link }) => link).filter(isFull));
    // With room in between, a new shortage is a new reason to hand over.
    const isSameShortage = isOwnFull && handedOverAtMs >= roomSinceMs;
    const hasHandedOver = isSameShortage && nowMs - handedOverAtMs < TRY_AGAIN_MS;
    this.mayHandOver =
      isOwnFull && !hasHandedOver && hasLastingQuorum && roomSinceMs <= lastingSinceMs;
    const isEnough = hasQuorum && !hasHandedOver;
    this.refuses = !isEnough && (isOwnFull || full.length > 0);
    this.full = this.refuses ? full : [];
    const { spares } = this;
    const maySpare = (link: Link) =>
      spares.includes(link.peer) || (hasLastingQuorum && link.roomSinceMs <= lastingSinceMs);
    const fullLinks = [...links.values()].filter(isFull);
    this.spares = isEnough ? inOrder(fullLinks.filter(maySpare)) : [];
  }

  /**
   * Whether the members with room since `sinceMs` are a quorum: this leader and synced learners. A
   * silent learner does not count, so that a full member returns before the leader loses its
   * quorum.
   */
  #haveRoom(sinceMs: number): boolean {
    const { id: own, nowMs, isFull: isOwnFull, roomSinceMs, quorums, options } = this.#replica;
    const heardSinceMs = nowMs - options.peerTimeoutMs / 2;
    return quorums.isQuorum((id) => {
      if (id === own) return !isOwnFull && roomSinceMs <= sinceMs;
      const learner = this.#learners.get(id);
      if (learner === undefined || !learner.synced) return false;
      const { link } = learner;
      return hasRoom(link) && link.roomSinceMs <= sinceMs && link.heardAtMs >= heardSinceMs;
    });
  }
}

/**
 * The decisions of a full member that looks. It waits until a new leader can have spared it (H and
 * `LASTING_MS`), or until it has followed in vain too often. Then it follows and stands like any
 * other member, because the others may need its history.
 */
export class Standby {
  readonly #replica: Replica;
  /** When a leader last spared this member, or this search began, in ms. */
  #sinceMs: number;
  /** The link of the last leader that spared this member. */
  #sparedOn: LinkId | null = null;

  constructor(member: Replica) {
    this.#replica = member;
    this.#sinceMs = member.nowMs;
  }

  /** The reason not to follow the sender of this vote; null to follow it. */
  declines(vote: VoteMessage): string | null {
    const { leader } = vote;
    if (this.isSparedBy(vote)) {
      this.#onSpared(leader);
      return `the disk is full, and leader ${leader} does without this member`;
    }
    if (this.#mayBeSparedBy(vote)) {
      return `the disk is full, and leader ${leader} may do without this member`;
    }
    const { nowMs, room, sound, history, givenUp } = this.#replica;
    const needsSnapshot = !sound || history.last === 0;
    const transfer = givenUp.waitsFor(leader, { nowMs, room, needsSnapshot });
    if (transfer === null) return null;
    return `there was no room for the ${transfer} of a leader: it tries again within a minute`;
  }

  /** Whether the sender of this vote, a leader, spares this member. */
  isSparedBy({ founded, spares }: VoteMessage): boolean {
    const { id: own, isFull: isOwnFull } = this.#replica;
    return isOwnFull && founded && spares?.includes(own) === true;
  }

  #onSpared(leader: PeerId): void {
    this.#replica.followedInVain = 0;
    this.#sparedOn = this.#replica.linkOf(leader)?.link ?? null;
    this.#sinceMs = this.#replica.nowMs;
  }

  /** A new leader spares no member at first, so wait for it. A founding needs all members. */
  #mayBeSparedBy({ leader, founded }: VoteMessage): boolean {
    const { isFull: isOwnFull, quorums } = this.#replica;
    if (!isOwnFull || !founded) return false;
    const on = this.#replica.linkOf(leader)?.link ?? null;
    // This leader has stopped sparing this member, so it needs it now.
    if (on !== null && on === this.#sparedOn) return false;
    this.#replica.countByAll();
    return this.#isPatient && quorums.isQuorum((id) => this.#backs(id, leader));
  }

  /** Whether this member does not stand or decide, and votes only for members with room. */
  yields(electorate: Electorate): boolean {
    const { isFull: isOwnFull, quorums } = this.#replica;
    if (!isOwnFull || electorate.kind !== 'members' || !this.#isPatient) return false;
    return quorums.isQuorum((id) => {
      const link = this.#replica.linkOf(id);
      return link !== undefined && counts(this.#replica, link, electorate) && hasRoom(link);
    });
  }

  /** Only voters count: without a quorum of them, a new leader needs this member. */
  #backs(id: PeerId, leader: PeerId): boolean {
    const link = this.#replica.linkOf(id);
    if (link === undefined || !counts(this.#replica, link, { kind: 'members' })) return false;
    return hasRoom(link) && link.vote?.leader === leader;
  }

  get #isPatient(): boolean {
    const { nowMs, roomSinceMs, options, followedInVain } = this.#replica;
    if (followedInVain >= IN_VAIN_MAX) return false;
    const sinceMs = Math.max(this.#sinceMs, roomSinceMs);
    return nowMs - sinceMs <= options.peerTimeoutMs + LASTING_MS;
  }
}

function inOrder(links: readonly Link[]): readonly PeerId[] {
  return links.map(({ peer }) => peer).sort((one, other) => one - other);
}
