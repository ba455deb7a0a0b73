/**
 * The rules of discovery, as pure questions about a leader's learners.
 *
 * Only voters make a quorum, because a wiped or damaged member has forgotten what it promised and
 * acknowledged. `Quorums.mayElect` has the rule for changes of the list of members. Two rules
 * ensure a single leader for each epoch with a complete history: the epoch is above every promise
 * of a quorum, and no member leads whose quorum knows anything newer. If no quorum agrees on who
 * led before, nobody leads, and an operator must decide.
 */
import { type AckEpoch, assert, EPOCH_MAX } from '@rookery/protocol';
import type { Learner, Learners } from './learner.js';
import type { Member } from './member.js';

/** The epoch for a leader that a quorum has offered to follow; null without a quorum. */
export function chooseEpoch(member: Member, learners: Learners): number | null {
  if (!learners.mayElect(() => true)) return null;
  let newest = member.acceptedEpoch;
  // Learners without a vote count here: they could never follow an epoch below their promise.
  for (const learner of learners.all()) newest = Math.max(newest, learner.acceptedEpoch);
  const epoch = newest + 1;
  assert(epoch <= EPOCH_MAX, () => `epoch ${epoch} is beyond ${EPOCH_MAX}`);
  return epoch;
}

export function hasEpochQuorum(member: Member, learners: Learners): boolean {
  return learners.mayElect(({ ackEpoch }) => ackEpoch !== null && !disputes(ackEpoch, member));
}

/**
 * Whether the learner took over the history of the same epoch from another leadership. Both cannot
 * have had a quorum of this ensemble, so zxids do not tell which of the two histories is newer.
 */
export function disputes(ack: AckEpoch, member: Member): boolean {
  if (ack.currentEpoch !== member.currentEpoch) return false;
  return member.lineage.firstConflict(ack.lineage) <= ack.currentEpoch;
}

/** Whether a voter has newer history, which may be committed: then this member must not lead. */
export function isNewer(ack: AckEpoch, member: Member): boolean {
  const { currentEpoch, history } = member;
  if (ack.currentEpoch !== currentEpoch) return ack.currentEpoch > currentEpoch;
  return ack.last > history.last;
}

/** Whether the learner would always refuse `epoch`, because it has promised a newer one. */
export function hasPromisedElsewhere(
  learner: Learner,
  leader: { readonly epoch: number; readonly established: boolean; readonly acked: boolean },
): boolean {
  if (learner.acceptedEpoch !== leader.epoch) return learner.acceptedEpoch > leader.epoch;
  return learner.voter && !leader.established && !leader.acked;
}
