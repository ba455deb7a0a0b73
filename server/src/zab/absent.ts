/**
 * Names for operators the members that an election waits for, and what each reports of itself.
 *
 * A member without a link may run and refuse this one. Texts are for the log and for probes:
 * nothing is decided by them.
 */
import type { PeerId } from '@rookery/protocol';
import type { Replica } from './replica.js';

/**
 * The members that cannot take part, by the reason; or that all are connected. In a founding,
 * members that are new or wiped can.
 */
export function absentText(member: Replica, isFounding = false): string {
  const groups = new Map<string, PeerId[]>();
  for (const id of member.options.members) {
    const reason = id === member.id ? null : reasonOf(member, id, isFounding);
    if (reason !== null) groups.set(reason, [...(groups.get(reason) ?? []), id]);
  }
  if (groups.size === 0) return 'all are connected';
  return [...groups].map(([reason, ids]) => `${reason}: ${ids.join(', ')}`).join('; ');
}

/** What a member says that has a damaged disk. */
export function damagedText(member: Replica): string {
  const reason = `the disk is damaged: waiting for a snapshot; ${absentText(member)}`;
  const others = member.options.members.filter((id) => id !== member.id);
  if (others.some((id) => member.linkOf(id)?.vote?.founded !== false)) return reason;
  return `${reason}; no other member has one to send: ${remedy(String(member.id))}`;
}

/** What a member says that has no vote yet, or none any more. */
export function wipedText(member: Replica): string {
  const reason = 'no vote here (a new or wiped member, no ensemble id)';
  return `${reason}: waiting for a leader to sync with; ${absentText(member)}`;
}

/** What to do about damaged members without which an ensemble cannot be founded; '' for none. */
export function foundingAdvice(member: Replica): string {
  const damaged = [...member.links.values()].filter(({ vote }) => vote?.sound === false);
  if (damaged.length === 0) return '';
  const ids = damaged.map(({ peer }) => peer).join(', ');
  return `; nobody has a snapshot to send there: ${remedy(ids)}`;
}

function remedy(ids: string): string {
  return `if this ensemble was never founded, empty the directories of ${ids}, and start again there`;
}

/** Null for a member that can take part. */
function reasonOf(member: Replica, id: PeerId, isFounding: boolean): string | null {
  const link = member.linkOf(id);
  if (link === undefined) return 'not connected';
  const { vote } = link;
  if (vote === null) return 'connected and silent';
  if (!vote.sound) return 'with a damaged disk, so without a vote';
  if (isFounding || vote.ensembleId === member.ensembleId || member.ensembleId === '') return null;
  if (vote.ensembleId !== '') return 'of another ensemble';
  return 'new or wiped, so without a vote';
}
