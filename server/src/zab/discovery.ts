/**
 * The rules of discovery, as pure questions about a leader's learners.
 *
 * Only voters make a quorum, because a wiped or damaged member has forgotten what it promised and
 * acknowledged. `Quorums.mayElect` has the rule for changes of the list of members. Two rules
 * ensure a single leader for each epoch with a complete history: the epoch is above every promise
 * of a quorum, and no member leads whose quorum knows anything newer. If no quorum agrees on who
 * led before, nobody leads, and an operator must decide.
 */
import { type AckEpoch, assert, EPOCH_MAX, type VoteMessage } from '@rookery/protocol';
import { absentText, damagedText, foundingAdvice, wipedText } from './absent.js';
import type { Learner, Learners } from './learner.js';
import type { Link, Replica } from './replica.js';

/** The epoch for a leader that a quorum has offered to follow; null without a quorum. */
export function chooseEpoch(member: Replica, learners: Learners): number | null {
  if (!learners.mayElect(() => true)) return null;
  let newest = member.acceptedEpoch;
  // Learners without a vote count here: they could never follow an epoch below their promise.
  for (const learner of learners.all()) newest = Math.max(newest, learner.acceptedEpoch);
  const epoch = newest + 1;
  assert(epoch <= EPOCH_MAX, () => `epoch ${epoch} is beyond ${EPOCH_MAX}`);
  return epoch;
}

export function hasEpochQuorum(member: Replica, learners: Learners): boolean {
  return learners.mayElect(({ ackEpoch }) => ackEpoch !== null && !disputes(ackEpoch, member));
}

/**
 * Whether the learner took over the history of the same epoch from another leadership. Both cannot
 * have had a quorum of this ensemble, so zxids do not tell which of the two histories is newer.
 */
export function disputes(ack: AckEpoch, member: Replica): boolean {
  if (ack.currentEpoch !== member.currentEpoch) return false;
  return member.lineage.firstConflict(ack.lineage) <= ack.currentEpoch;
}

/** Whether a voter has newer history, which may be committed: then this member must not lead. */
export function isNewer(ack: AckEpoch, member: Replica): boolean {
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

export type Electorate =
  | { readonly kind: 'members' }
  | { readonly kind: 'founding' }
  | { readonly kind: 'none'; readonly reason: string };

/**
 * Decides who may vote, by pure questions about a member and the last votes of its peers.
 *
 * A member counts once a leader has brought it up to date durably (it then has the ensemble id), if
 * its disk is sound. So a wiped member is never mistaken for a new one. An ensemble is founded only
 * if no member says that it was founded before, and only with every configured member present, or
 * with a quorum where `foundWithQuorum` is set. A member that `abstains` has no vote for some time.
 */
export function electorateOf(member: Replica): Electorate {
  const { ensembleId, founded, sound } = member;
  const votes = [...member.links.values()].flatMap((link) => (link.vote ? [link.vote] : []));
  if (!sound) return { kind: 'none', reason: damagedText(member) };
  if (member.abstains) {
    const reason = 'members with the peerTimeoutMs from before may serve for some time';
    const { abstainMs } = member.options;
    return { kind: 'none', reason: `${reason}: no vote for ${abstainMs} ms after the start` };
  }
  if (ensembleId !== '') {
    const shares = (vote: VoteMessage | null | undefined) =>
      vote !== null && vote !== undefined && isMemberOf(vote, ensembleId);
    const isShared = member.quorums.isQuorum(
      (id) => id === member.id || shares(member.linkOf(id)?.vote),
    );
    const known = votes.some((vote) => vote.founded && isMemberOf(vote, ensembleId));
    if (founded || known || isShared) return { kind: 'members' };
  }
  if (votes.some((vote) => vote.founded)) {
    return { kind: 'none', reason: wipedText(member) };
  }
  const needed = member.options.foundWithQuorum ? member.quorum : member.options.members.length;
  const ready = votes.filter((vote) => vote.sound).length + 1;
  if (ready < needed) {
    const reason = `no ensemble yet: ${needed} members must meet to found it, ${ready} have`;
    return {
      kind: 'none',
      reason: `${reason}; ${absentText(member, true)}${foundingAdvice(member)}`,
    };
  }
  return { kind: 'founding' };
}

/** Whether this peer's vote counts for `member`. */
export function counts(member: Replica, link: Link, electorate: Electorate): boolean {
  if (link.vote === null || !link.vote.sound) return false;
  if (electorate.kind === 'founding') return true;
  return electorate.kind === 'members' && isMemberOf(link.vote, member.ensembleId);
}

function isMemberOf(vote: VoteMessage, ensembleId: string): boolean {
  return vote.sound && vote.ensembleId === ensembleId;
}
