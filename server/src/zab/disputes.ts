/**
 * Settles disputes in discovery: with voters that followed another leadership of the leader's
 * epoch.
 *
 * Zxids do not tell which of such histories is newer. The history that a quorum has is the valid
 * one. A member with another one gives up its vote, even if it is about to lead. If no quorum
 * agrees, no member leads; an operator has to decide, and the log shows which member has which
 * history. Called by Leading.
 *
 * While the list of members is being changed, a quorum has a majority of every list. That is safe:
 * the list by which this member's leader was elected is one of them, because a directory keeps it
 * until it has served with another one. A majority of it that obeyed another leader in that epoch
 * shares no voter with those who obeyed this leader, so nothing that this leader proposed was
 * committed. Less proves nothing, because it is not known by which of the lists that leader
 * counted. Example: the lists are {1,2,3} and, formerly, {1..5}; 1 and 2 hold A and 3 holds B. If
 * the list shrank, 4 and 5 may also hold B, and B was committed. If it grew and the file was put
 * back, A was. So {1,2} proves nothing. A member without a vote proves nothing either: it may be
 * new, or wiped after it had acknowledged this history.
 */
import { formatZxid, type PeerId } from '@rookery/protocol';
import { disputes } from './discovery.js';
import type { Learner, Learners } from './learner.js';
import { Lineage } from './lineage.js';
import type { Quorums } from './quorum.js';
import type { Replica } from './replica.js';

/** The reason for which this member stops leading. */
export const OUTVOTED = 'a quorum of members has another history';

const CHOOSE = 'begin a new ensemble of one that has the right history, with `rookery recover`';
const CHOOSE_IN_CHANGE =
  'the right history is that of most members of the list last served with: start the members ' +
  'without it on empty directories, and all with a file that names every member of these lists';

/** Returns true if this member is outvoted and has given up its history; its role must end. */
export function onDisputed(
  member: Replica,
  learners: Learners,
  { link, ackEpoch }: Learner,
): boolean {
  if (ackEpoch === null) return false;
  const conflict = member.lineage.firstConflict(ackEpoch.lineage);
  const after = Math.max(0, member.history.commonPoint(ackEpoch.history, conflict));
  member.note('history.disputed', {
    peer: link.peer,
    after: formatZxid(after),
    epoch: conflict,
    own: member.lineage.of(conflict),
    theirs: new Lineage(ackEpoch.lineage).of(conflict),
    reason: reasonFor(member.quorums),
  });
  if (!isOutvoted(member, learners)) return false;
  member.note('history.diverged', { after: formatZxid(after), reason: OUTVOTED });
  member.giveUp(OUTVOTED, after);
  return true;
}

/** Whether a quorum agrees on another history than this member's. */
function isOutvoted(member: Replica, learners: Learners): boolean {
  const holders = new Map<number, Set<PeerId>>();
  for (const { link, voter, ackEpoch } of learners.all()) {
    if (!voter || ackEpoch === null || !disputes(ackEpoch, member)) continue;
    const identity = new Lineage(ackEpoch.lineage).of(ackEpoch.currentEpoch);
    holders.set(identity, (holders.get(identity) ?? new Set()).add(link.peer));
  }
  return [...holders.values()].some((agree) => member.quorums.isQuorum((id) => agree.has(id)));
}

/** Explains to an operator what must be true before any member leads, and how to get there. */
function reasonFor({ lists, isChanging }: Quorums): string {
  const majorities = lists.map((list) => list.join(', ')).join(' and of ');
  return (
    'this member and the peer obeyed different leaders of one epoch, and equal numbers mean one ' +
    `history, of which a member may have less: a majority of ${majorities} must have one of ` +
    `them; start all members, and if nobody leads then, ${isChanging ? CHOOSE_IN_CHANGE : CHOOSE}`
  );
}
