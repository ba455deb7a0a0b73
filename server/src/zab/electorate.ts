/**
 * Decides who may vote, by pure questions about a member and the last votes of its peers.
 *
 * A member counts once a leader has brought it up to date durably (it then has the ensemble id), if
 * its disk is sound. So a wiped member is never mistaken for a new one. An ensemble is founded only
 * if no member says that it was founded before, and only with every configured member present, or
 * with a quorum where `foundWithQuorum` is set. A member that `abstains` has no vote for some time.
 */
import type { VoteMessage } from '@rookery/protocol';
import { absentText, damagedText, foundingAdvice, wipedText } from './absent.js';
import type { Link, Member } from './member.js';

export type Electorate =
  | { readonly kind: 'members' }
  | { readonly kind: 'founding' }
  | { readonly kind: 'none'; readonly reason: string };

export function electorateOf(member: Member): Electorate {
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
export function counts(member: Member, link: Link, electorate: Electorate): boolean {
  if (link.vote === null || !link.vote.sound) return false;
  if (electorate.kind === 'founding') return true;
  return electorate.kind === 'members' && isMemberOf(link.vote, member.ensembleId);
}

function isMemberOf(vote: VoteMessage, ensembleId: string): boolean {
  return vote.sound && vote.ensembleId === ensembleId;
}
