/**
 * What a leader in discovery does about voters that followed another leadership of its own epoch.
 *
 * Zxids do not tell which of such histories is newer. The history that a quorum has is the valid
 * one. A member with another one gives up its vote, even if it is about to lead. If no quorum
 * agrees, nobody leads; an operator has to decide, and the log names the members. Called by
 * Leading.
 *
 * While the list of members is being changed, a quorum has a majority of every list. That is safe:
 * the list by which this member's leader was elected is one of them, because a directory keeps it
 * until it has served with another one. A majority of it that obeyed somebody else in that epoch
 * shares no voter with those who obeyed this leader, so nothing that this leader proposed was
 * committed. A majority of the configured list alone proves nothing: the members that this list
 * lacks may have this history, and here may be its last copy. In a list that grows, the new members
 * have no vote and cannot agree, so nobody leads: a member without a vote may be one that was
 * wiped, and may have acknowledged this history before.
 */
import { formatZxid, type PeerId } from '@rookery/protocol';
import { disputes } from './discovery.js';
import type { Learner, Learners } from './learner.js';
import type { Member } from './member.js';

/** The reason for which this member stops leading. */
export const OUTVOTED = 'a quorum of members has another history';

/** Returns true if this member is outvoted and has given up its history; its role must end. */
export function onDisputed(
  member: Member,
  learners: Learners,
  { link, ackEpoch }: Learner,
): boolean {
  if (ackEpoch === null) return false;
  const conflict = member.lineage.firstConflict(ackEpoch.lineage);
  const after = Math.max(0, member.history.commonPoint(ackEpoch.history, conflict));
  const at = { peer: link.peer, after: formatZxid(after) };
  const reason = 'this member and the peer obeyed different leaders of one epoch';
  member.note('history.disputed', { ...at, epoch: conflict, reason });
  if (!isOutvoted(member, learners)) return false;
  member.note('history.diverged', { after: formatZxid(after), reason: OUTVOTED });
  member.giveUp(OUTVOTED, after);
  return true;
}

/** Whether a quorum agrees on another history than this member's. */
function isOutvoted(member: Member, learners: Learners): boolean {
  const holders = new Map<number, Set<PeerId>>();
  for (const { link, voter, ackEpoch } of learners.all()) {
    if (!voter || ackEpoch === null || !disputes(ackEpoch, member)) continue;
    const led = ackEpoch.lineage.find(({ epoch }) => epoch === ackEpoch.currentEpoch);
    const identity = led?.identity ?? 0;
    holders.set(identity, (holders.get(identity) ?? new Set()).add(link.peer));
  }
  return [...holders.values()].some((agree) => member.quorums.isQuorum((id) => agree.has(id)));
}
