/**
 * Judges what a peer says before any role acts on it: is it something that a member can say?
 *
 * Pure questions about one message, this member and its links. The codec has checked types and
 * ranges of single fields; here they are compared with each other and with what is known. Whether
 * a message fits the phase of its sender is judged by the role. What fails either is never acted
 * on: its link is dropped, and nothing of it reaches an assertion or the disk.
 */
import {
  type AckEpoch,
  type CoreMessage,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  isWellFormed,
  type LeadershipOf,
  lastOfRanges,
  type VoteMessage,
} from '@rookery/protocol';
import { LEADERSHIPS_MAX } from './lineage.js';
import type { Link, Member } from './member.js';

/**
 * An epoch grows by one in each election, so one that is further away than this was never elected:
 * days of elections that fail each second are fewer. Epochs are 21 bits, and whoever adopted the
 * last one could never be led again.
 */
export const EPOCH_JUMP_MAX = 1 << 16;
/** Of a vote; a member keeps fewer (`served-with.ts`). */
const FORMER_LISTS_MAX = 16;
const MEMBERS_MAX = 255;
/** A round begins with each search for a leader; a restarted member begins with the first. */
export const ROUND_JUMP_MAX = 0x1_0000_0000;

/** Null for what a member can say, else what is wrong with it. */
export function implausible(member: Member, link: Link, message: CoreMessage): string | null {
  switch (message.kind) {
    case 'vote':
      return implausibleVote(member, link, message);
    case 'followerInfo':
      return implausibleEpoch(member, link, message.acceptedEpoch);
    case 'newEpoch':
      return implausibleEpoch(member, link, message.epoch);
    case 'ackEpoch':
      return implausibleHistory(message) ?? implausibleLineage(message.lineage, message.epoch);
    case 'syncStart':
      return implausibleLineage(message.lineage, member.acceptedEpoch);
    case 'newLeader':
      return message.ensembleId === '' ? 'it names no ensemble' : null;
    default:
      return null;
  }
}

function implausibleVote(member: Member, link: Link, vote: VoteMessage): string | null {
  const { leader, state, round, former = [] } = vote;
  if (state === 'leading' && leader !== link.peer) return `it leads and calls ${leader} the leader`;
  if (state === 'following' && leader === link.peer) return 'it follows itself';
  if (leader === 0 && state !== 'looking') return 'it follows nobody';
  if (leader !== 0 && !member.options.voters.includes(leader))
    return `there is no member ${leader}`;
  if (round > member.round + ROUND_JUMP_MAX) return `round ${round}, here it is ${member.round}`;
  if (former.length > FORMER_LISTS_MAX) return `it names ${former.length} former lists of members`;
  if (!former.every(isList)) return 'it names a former list that is none';
  if (vote.founded && vote.ensembleId === '') return 'it has founded an ensemble without an id';
  return null;
}

function isList(ids: readonly number[]): boolean {
  return ids.length > 0 && ids.length <= MEMBERS_MAX && new Set(ids).size === ids.length;
}

/**
 * Compared with what is known here, or told by another member of itself: a single member cannot
 * use up the epochs, and one that was away for long, or wiped, takes part all the same.
 */
function implausibleEpoch(member: Member, link: Link, epoch: number): string | null {
  let known = member.acceptedEpoch;
  for (const { peer, vote } of member.links.values()) {
    if (peer === link.peer || vote === null) continue;
    if (vote.state !== 'looking' || vote.leader === peer) known = Math.max(known, vote.epoch);
  }
  const epochMax = Math.min(known + EPOCH_JUMP_MAX, EPOCH_MAX - 1);
  return epoch <= epochMax ? null : `epoch ${epoch} is beyond ${epochMax}`;
}

function implausibleLineage(lineage: readonly LeadershipOf[], epochMax: number): string | null {
  if (lineage.length > LEADERSHIPS_MAX) return `it names ${lineage.length} leaderships`;
  const beyond = lineage.find(({ epoch }) => epoch > epochMax);
  return beyond === undefined ? null : `it names a leadership of epoch ${beyond.epoch}`;
}

function implausibleHistory(message: AckEpoch): string | null {
  const { epoch, currentEpoch, last, applied, history } = message;
  if (currentEpoch > epoch) return `its currentEpoch ${currentEpoch} is beyond ${epoch}`;
  if (epochOf(last) > epoch) return `its log ends with ${formatZxid(last)}, beyond epoch ${epoch}`;
  if (applied > last) return `it applied ${formatZxid(applied)}, beyond ${formatZxid(last)}`;
  if (!isWellFormed(history)) return 'the ranges of its log are in no order';
  const end = lastOfRanges(history);
  return end === last ? null : `its log ends with ${formatZxid(end)}, not ${formatZxid(last)}`;
}
