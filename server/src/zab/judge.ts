/**
 * Judges whether a peer's message is plausible, before any role acts on it.
 *
 * The codec has checked the types and ranges of single fields. Here they are compared with each
 * other and with what this member knows; whether a message fits the sender's phase is judged by the
 * role. A message that fails is never acted on: its link is dropped, and no part of it reaches an
 * assertion or the disk. Pure.
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
 * The largest plausible jump of an epoch. An epoch grows by one in each election, and even days of
 * failing elections need fewer. Epochs have 21 bits, and a member that adopted the last one could
 * never follow a leader again.
 */
export const EPOCH_JUMP_MAX = 1 << 16;
/** Former lists in one vote. A member keeps fewer (`served-with.ts`). */
const FORMER_LISTS_MAX = 16;
const MEMBERS_MAX = 255;
/** The largest plausible jump of a round. Each search for a leader begins a new round. */
export const ROUND_JUMP_MAX = 0x1_0000_0000;

/** Returns what is wrong with the message, or null. */
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
  const { leader, state, round, former = [], spares = [] } = vote;
  if (state === 'leading' && leader !== link.peer) return `it leads and calls ${leader} the leader`;
  if (state === 'following' && leader === link.peer) return 'it follows itself';
  if (leader === 0 && state !== 'looking') return 'it follows nobody';
  if (leader !== 0 && !member.options.members.includes(leader))
    return `there is no member ${leader}`;
  if (round > member.round + ROUND_JUMP_MAX) return `round ${round}, here it is ${member.round}`;
  if (former.length > FORMER_LISTS_MAX) return `it names ${former.length} former lists of members`;
  if (!former.every(isList)) return 'it names a former list that is none';
  if (spares.length > 0 && state !== 'leading') return 'it does not lead and spares members';
  if (spares.includes(link.peer)) return 'it spares itself';
  const isSpareable = spares.length === 0 || (isList(spares) && !spares.includes(0));
  if (!isSpareable) return 'it spares members that are none';
  if (vote.founded && vote.ensembleId === '') return 'it has founded an ensemble without an id';
  return null;
}

function isList(ids: readonly number[]): boolean {
  return ids.length > 0 && ids.length <= MEMBERS_MAX && new Set(ids).size === ids.length;
}

/**
 * Compares an epoch with the newest one that this member knows or that any other peer reports of
 * itself. So a single peer cannot exhaust the epochs, and a member that was away for long, or was
 * wiped, can still take part.
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
