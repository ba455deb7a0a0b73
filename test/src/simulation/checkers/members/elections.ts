/**
 * Property: a member that elects counts only votes of its round, and elects a member that votes for
 * itself. Source: docs/architecture/core.md, "Election"; ZOOKEEPER-1817, 2938, 3769 (stale and
 * second-hand votes).
 *
 * Safety does not depend on votes, because discovery and synchronization ensure it; so an election
 * that counts wrong votes shows only in elections without a result. What a member has heard is the
 * newest vote of each live link. Its decision is announced by the note `election.decided`. An offer
 * to follow the member is a vote for it, not for another one that it has come to prefer.
 */
import type { PeerId, VoteMessage } from '@rookery/protocol';
import type { NoteFacts } from '../../../simulated.js';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface Heard {
  readonly link: number;
  vote: VoteMessage | null;
}

interface Decision {
  readonly leader: PeerId;
  readonly epoch: number;
  readonly zxid: string;
  readonly round: number;
}

class Elections implements Checker {
  readonly property =
    'a member that elects counts votes of its round only, and elects one that votes for itself';
  readonly #members: MemberTable<Map<PeerId, Heard>>;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => new Map());
  }

  onStarted(seen: Started): void {
    this.#members.of(seen.member).clear();
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const heard = this.#members.of(seen.member);
    if (input.kind === 'connected') heard.set(input.peer, { link: input.link, vote: null });
    else if (input.kind === 'disconnected') forget(heard, input.peer, input.link);
    else if (input.kind === 'message' && input.message.kind === 'vote') {
      const from = heard.get(input.peer);
      if (from?.link === input.link) from.vote = input.message;
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind === 'disconnect') forget(heard, output.peer, output.link);
      else if (output?.kind === 'note' && output.event === 'election.decided') {
        this.#onDecided(seen, heard, decisionOf(output.facts));
      }
    }
  }

  #onDecided(seen: Step, heard: ReadonlyMap<PeerId, Heard>, decision: Decision): void {
    const { leader, round } = decision;
    const supporters: PeerId[] = [seen.member];
    for (const [peer, { vote }] of heard) {
      if (vote?.leader === leader && vote.round === round) supporters.push(peer);
    }
    if (supporters.length < this.#members.quorum) {
      const what = `elects ${leader} in round ${round} by the votes of ${supporters.join(', ')}`;
      throw broken(this.property, seen, `${what} alone`);
    }
    if (leader === seen.member) return;
    const own = heard.get(leader)?.vote ?? null;
    if (own !== null && stands(own, decision)) return;
    const said =
      own === null
        ? 'was not heard'
        : `said ${own.state} ${own.leader} epoch ${own.epoch} ${formatZxid(own.zxid)} last`;
    throw broken(this.property, seen, `elects ${leader} in round ${round}, which ${said}`);
  }
}

function stands(vote: VoteMessage, { leader, epoch, zxid, round }: Decision): boolean {
  return (
    vote.state === 'looking' &&
    vote.leader === leader &&
    vote.round === round &&
    vote.epoch === epoch &&
    formatZxid(vote.zxid) === zxid
  );
}

function forget(heard: Map<PeerId, Heard>, peer: PeerId, link: number): void {
  if (heard.get(peer)?.link === link) heard.delete(peer);
}

function decisionOf({ leader, epoch, zxid, round }: NoteFacts): Decision {
  if (leader === undefined) throw new Error('a decision names no leader');
  return { leader: Number(leader), epoch: Number(epoch), zxid: `${zxid}`, round: Number(round) };
}

export const newElections: NewChecker = ({ members }) => new Elections(members);
