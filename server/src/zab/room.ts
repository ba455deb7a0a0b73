/**
 * Who has room on their disk, and what follows: which members a leader does without, when it
 * refuses data or hands over, and what a member with a full disk does while it looks for a leader.
 *
 * A member whose disk is full steps out while members with room are a quorum without it: it looks,
 * and follows nobody who spares it. So it counts in no quorum and holds nothing up, and it keeps
 * its vote and its promises. The leader decides, and never the follower, since members that share a
 * disk find it full in the same second. What a vote says of a disk therefore counts for this only
 * once it has lasted. Who does not say it (an earlier wire version) has no room that counts.
 *
 * Nothing here is needed for safety: a full member only abstains, for a bounded time unless an
 * established leader spares it. Called by Leading and Looking.
 */
import { type PeerId, ROOM_SINCE, type VoteMessage } from '@rookery/protocol';
import { counts, type Electorate } from './electorate.js';
import { TRY_AGAIN_MS } from './given-up.js';
import type { Learners } from './learner.js';
import type { Link, Member } from './member.js';
import type { LinkId } from './types.js';

/** Longer than members that share a disk can differ: each measures it once a second. */
export const LASTING_MS = 1_500;
/**
 * How often a member with a full disk begins to follow in vain before it stands itself. Those with
 * room may not reach each other, and whoever of them is elected may lack what this member knows.
 */
const IN_VAIN_MAX = 3;

export function isFull({ vote }: Link): boolean {
  return vote?.full === true;
}

export function hasRoom(link: Link): boolean {
  return link.version >= ROOM_SINCE && link.vote !== null && !isFull(link);
}

/** What an established leader concludes. */
export class LeadersRoom {
  /** Members with a full disk that the others do without. */
  spares: readonly PeerId[] = [];
  /** Whether data is refused, because somebody who would have to write it has no room. */
  refuses = false;
  /** Learners with a full disk, while data is refused. */
  full: readonly PeerId[] = [];
  /** Whether this leader has no room, and a quorum without it has. */
  mayHandOver = false;
  readonly #member: Member;
  readonly #learners: Learners;

  constructor(member: Member, learners: Learners) {
    this.#member = member;
    this.#learners = learners;
  }

  judge(): void {
    const { nowMs, isFull: isOwnFull, roomSinceMs, handedOverAtMs, links } = this.#member;
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
   * Whether this leader and its synced learners with room, since then or before, are a quorum. A
   * learner that is silent does not count: if it is lost, a full member has to be back before the
   * leader steps down for want of a quorum.
   */
  #haveRoom(sinceMs: number): boolean {
    const { id: own, nowMs, isFull: isOwnFull, roomSinceMs, quorums, options } = this.#member;
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
 * What a member that looks does for want of room. It is patient for H and as long as it takes a new
 * leader to spare it, or until it has followed in vain. Afterwards it follows and stands as any
 * other: the others may need what it knows.
 */
export class Standby {
  readonly #member: Member;
  /** Since when no leader has spared this member, in ms. */
  #sinceMs: number;
  /** The link on which a leader has said last that it does without this member. */
  #sparedOn: LinkId | null = null;

  constructor(member: Member) {
    this.#member = member;
    this.#sinceMs = member.nowMs;
  }

  /** Why this member does not follow the leader whose vote it is; null if it does. */
  declines(vote: VoteMessage): string | null {
    const { leader } = vote;
    if (this.isSparedBy(vote)) {
      this.#onSpared(leader);
      return `the disk is full, and leader ${leader} does without this member`;
    }
    if (this.#mayBeSparedBy(vote)) {
      return `the disk is full, and leader ${leader} may do without this member`;
    }
    const { nowMs, room, sound, history, givenUp } = this.#member;
    const needsSnapshot = !sound || history.last === 0;
    const transfer = givenUp.waitsFor(leader, { nowMs, room, needsSnapshot });
    if (transfer === null) return null;
    return `there was no room for the ${transfer} of a leader: it tries again within a minute`;
  }

  /** Whether the leader whose vote this is has announced that it does without this member. */
  isSparedBy({ founded, spares }: VoteMessage): boolean {
    const { id: own, isFull: isOwnFull } = this.#member;
    return isOwnFull && founded && spares?.includes(own) === true;
  }

  #onSpared(leader: PeerId): void {
    this.#member.followedInVain = 0;
    this.#sparedOn = this.#member.linkOf(leader)?.link ?? null;
    this.#sinceMs = this.#member.nowMs;
  }

  /** A new leader spares nobody at first, so it is waited for. A founding needs all members. */
  #mayBeSparedBy({ leader, founded }: VoteMessage): boolean {
    const { isFull: isOwnFull, quorums } = this.#member;
    if (!isOwnFull || !founded) return false;
    const on = this.#member.linkOf(leader)?.link ?? null;
    // The leader did without this member, and no longer does: it needs it now, whoever backs it.
    if (on !== null && on === this.#sparedOn) return false;
    this.#member.countByAll();
    return this.#isPatient && quorums.isQuorum((id) => this.#backs(id, leader));
  }

  /** Whether this member neither stands nor decides, and votes for members with room alone. */
  yields(electorate: Electorate): boolean {
    const { isFull: isOwnFull, quorums } = this.#member;
    if (!isOwnFull || electorate.kind !== 'members' || !this.#isPatient) return false;
    return quorums.isQuorum((id) => {
      const link = this.#member.linkOf(id);
      return link !== undefined && counts(this.#member, link, electorate) && hasRoom(link);
    });
  }

  /** Only with a vote: a new leader needs this member if the others have none. */
  #backs(id: PeerId, leader: PeerId): boolean {
    const link = this.#member.linkOf(id);
    if (link === undefined || !counts(this.#member, link, { kind: 'members' })) return false;
    return hasRoom(link) && link.vote?.leader === leader;
  }

  get #isPatient(): boolean {
    const { nowMs, roomSinceMs, options, followedInVain } = this.#member;
    if (followedInVain >= IN_VAIN_MAX) return false;
    const sinceMs = Math.max(this.#sinceMs, roomSinceMs);
    return nowMs - sinceMs <= options.peerTimeoutMs + LASTING_MS;
  }
}

function inOrder(links: readonly Link[]): readonly PeerId[] {
  return links.map(({ peer }) => peer).sort((one, other) => one - other);
}
