/**
 * Property: a leader confirms only what a quorum confirmed to it after it was asked. Source:
 * docs/architecture/life-of-a-request.md on sync; ZOOKEEPER-1675, 2136.
 *
 * Rounds are numbered: a round proves something for a question only if its `confirm` was sent no
 * earlier than the question came. Only a member that has acknowledged this leader's NEWLEADER, and
 * nothing of another leader since, may answer. The zxid in the confirmation is at least everything
 * that was delivered anywhere, and everything that this leader had proposed, when the question
 * came.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface Question {
  readonly order: number;
  readonly atLeast: Zxid;
}

interface MemberSeen {
  /** In its present term as a leader. */
  readonly questions: Map<number, Question>;
  /** The order at which each round was begun. */
  readonly rounds: Map<number, number>;
  /** By peer: when the newest round that it answered was begun. */
  readonly answered: number[];
  proposed: Zxid;
  /** The leader whose NEWLEADER it acknowledged last, while it has promised nothing else. */
  follows: PeerId;
}

class Leadership implements Checker {
  readonly property = 'a leader confirms only what a quorum confirmed to it after it was asked';
  readonly #members: MemberTable<MemberSeen>;
  #delivered: Zxid = 0;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => ({
      questions: new Map(),
      rounds: new Map(),
      proposed: 0,
      follows: 0,
      answered: new Array<number>(members + 1).fill(0),
    }));
  }

  onStarted(seen: Started): void {
    const member = this.#members.of(seen.member);
    member.follows = 0;
    member.proposed = seen.recovered.last;
    this.#endTerm(member);
  }

  onStep(seen: Step): void {
    const { input, outputs, order } = seen;
    const member = this.#members.of(seen.member);
    if (input.kind === 'confirm') {
      const atLeast = Math.max(this.#delivered, member.proposed);
      member.questions.set(input.id, { order, atLeast });
    } else if (input.kind === 'message' && input.message.kind === 'confirmAck') {
      const beganAt = member.rounds.get(input.message.round) ?? 0;
      member.answered[input.peer] = Math.max(member.answered[input.peer] ?? 0, beganAt);
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      switch (output?.kind) {
        case 'append':
          member.proposed = output.batch.last;
          break;
        case 'truncate':
          member.proposed = output.after;
          break;
        case 'installSnapshot':
          member.proposed = output.zxid;
          break;
        case 'deliver':
          this.#delivered = Math.max(this.#delivered, output.batch.last);
          break;
        case 'role':
          this.#endTerm(member);
          if (output.role === 'looking') member.follows = 0;
          break;
        case 'send':
          this.#onSend(seen, member, output.peer, output.message);
          break;
        case 'confirmed':
          this.#onConfirmed(seen, member, output.id, output.zxid);
          break;
      }
    }
  }

  #endTerm(member: MemberSeen): void {
    member.questions.clear();
    member.rounds.clear();
    member.answered.fill(0);
  }

  #onSend(seen: Step, member: MemberSeen, peer: PeerId, message: { readonly kind: string }): void {
    switch (message.kind) {
      case 'ackNewLeader':
        member.follows = peer;
        break;
      case 'ackEpoch':
        member.follows = 0;
        break;
      case 'confirmAck':
        if (member.follows === peer) break;
        throw broken(this.property, seen, `confirms ${peer}, but follows ${member.follows}`);
      case 'confirm':
        if ('round' in message && typeof message.round === 'number') {
          if (!member.rounds.has(message.round)) member.rounds.set(message.round, seen.order);
        }
        break;
    }
  }

  #onConfirmed(seen: Step, member: MemberSeen, id: number, zxid: Zxid): void {
    const question = member.questions.get(id);
    if (question === undefined) {
      throw broken(this.property, seen, `confirms question ${id}, which was not asked in its term`);
    }
    member.questions.delete(id);
    let answers = 1;
    for (const beganAt of member.answered) if (beganAt >= question.order) answers += 1;
    if (answers < this.#members.quorum) {
      const what = `confirms question ${id} of order ${question.order} with ${answers} answers`;
      throw broken(this.property, seen, what);
    }
    if (zxid >= question.atLeast) return;
    const needed = formatZxid(question.atLeast);
    throw broken(this.property, seen, `confirms ${formatZxid(zxid)}, but ${needed} had been there`);
  }
}

export const newLeadership: NewChecker = ({ members }) => new Leadership(members);
