/**
 * What a leader in discovery does about voters that obeyed another leadership of its own epoch.
 *
 * Zxids say nothing about such histories: each is newer than the other. The one that a quorum has
 * is believed, and who has another gives its vote up, the would-be leader too. Without such a
 * quorum nobody leads: an operator has to decide, and is told between whom. Called by Leading.
 */
import { formatZxid } from '@rookery/protocol';
import { disputes } from './discovery.js';
import type { Learner, Learners } from './learner.js';
import type { Member } from './member.js';

/** Why this member leads no more. */
export const OUTVOTED = 'a quorum of members has another history';

/** True when this member is outvoted, and has given up what it has: its role must end. */
export function onDisputed(
  member: Member,
  learners: Learners,
  { link, ackEpoch }: Learner,
): boolean {
  if (ackEpoch === null) return false;
  const conflict = member.lineage.firstConflict(ackEpoch.lineage);
  const after = Math.max(0, member.history.commonPoint(ackEpoch.history, conflict));
  const who = `member ${link.peer} obeyed another leader of epoch ${conflict} than ${member.id}`;
  const what = `nothing after ${formatZxid(after)} is the same; a quorum must have one history`;
  member.note('history.disputed', `${who}: ${what}`);
  if (!isOutvoted(member, learners)) return false;
  member.note('history.diverged', `${OUTVOTED} after ${formatZxid(after)}`);
  member.giveUp(OUTVOTED, after);
  return true;
}

/** A quorum has one other history than this member. */
function isOutvoted(member: Member, learners: Learners): boolean {
  const holders = new Map<number, number>();
  for (const { voter, ackEpoch } of learners.all()) {
    if (!voter || ackEpoch === null || !disputes(ackEpoch, member)) continue;
    const led = ackEpoch.lineage.find(({ epoch }) => epoch === ackEpoch.currentEpoch);
    const identity = led?.identity ?? 0;
    holders.set(identity, (holders.get(identity) ?? 0) + 1);
  }
  return Math.max(0, ...holders.values()) >= member.quorum;
}
