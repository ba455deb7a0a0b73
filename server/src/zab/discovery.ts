/**
 * The rules of discovery, as questions about a leader's learners. Pure.
 *
 * Only voters count: a wiped or damaged member has forgotten what it promised and acknowledged, so
 * its word proves nothing. Two rules keep a single leader per epoch with a complete history: an
 * epoch above every promise of a quorum, and no leader whose quorum knows anything newer. A quorum
 * is of one mind about who led: without one nobody leads, and an operator must decide.
 */
import { type AckEpoch, assert, EPOCH_MAX } from '@rookery/protocol';
import type { Learner, Learners } from './learner.js';
import type { Member } from './member.js';

/** The epoch of a leader to whom a quorum has offered itself, or null while there is none. */
export function chooseEpoch(member: Member, learners: Learners): number | null {
  if (!learners.mayElect(() => true)) return null;
  let newest = member.acceptedEpoch;
  // Those without a vote have promised too: an epoch below theirs could never take them in.
  for (const learner of learners.all()) newest = Math.max(newest, learner.acceptedEpoch);
  const epoch = newest + 1;
  assert(epoch <= EPOCH_MAX, () => `epoch ${epoch} is beyond ${EPOCH_MAX}`);
  return epoch;
}

export function hasEpochQuorum(member: Member, learners: Learners): boolean {
  return learners.mayElect(({ ackEpoch }) => ackEpoch !== null && !disputes(ackEpoch, member));
}

/**
 * It took over the history of the same epoch, but from another leadership. Two cannot both have had
 * a quorum of this ensemble, so zxids say nothing about which of the two histories is newer.
 */
export function disputes(ack: AckEpoch, member: Member): boolean {
  if (ack.currentEpoch !== member.currentEpoch) return false;
  return member.lineage.firstConflict(ack.lineage) <= ack.currentEpoch;
}

/** A voter's history that this member lacks may hold what was committed: it must not lead. */
export function isNewer(ack: AckEpoch, member: Member): boolean {
  const { currentEpoch, history } = member;
  if (ack.currentEpoch !== currentEpoch) return ack.currentEpoch > currentEpoch;
  return ack.last > history.last;
}

/** Would this learner refuse `epoch` for ever? Then this leader's epoch is too old for it. */
export function hasPromisedElsewhere(
  learner: Learner,
  leader: { readonly epoch: number; readonly established: boolean; readonly acked: boolean },
): boolean {
  if (learner.acceptedEpoch !== leader.epoch) return learner.acceptedEpoch > leader.epoch;
  return learner.voter && !leader.established && !leader.acked;
}
