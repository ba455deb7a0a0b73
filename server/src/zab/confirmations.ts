/**
 * Rounds in which a leader asks its quorum whether it still leads (sync, linearizable reads).
 *
 * One round is under way at a time; what asks meanwhile shares the next one. A round that began
 * before a question was asked proves nothing for it (ZOOKEEPER-1675, 2136). Called by Leading while
 * it serves.
 */
import type { Zxid } from '@rookery/protocol';
import type { Learner, Learners } from './learner.js';
import type { Member } from './member.js';

interface Confirmation {
  readonly id: number;
  /**
   * The last proposal when the question was asked: what the asker must see. Not the last commit:
   * a client whose connection broke asks whether its write, which may be on its way, was done.
   */
  readonly zxid: Zxid;
}

export class Confirmations {
  readonly #member: Member;
  readonly #learners: Learners;
  #round = 0;
  /** In the round under way; none while there is none. */
  #asked: Confirmation[] = [];
  #waiting: Confirmation[] = [];

  constructor(member: Member, learners: Learners) {
    this.#member = member;
    this.#learners = learners;
  }

  ask(id: number): void {
    this.#waiting.push({ id, zxid: this.#member.history.last });
    if (this.#asked.length === 0) this.#begin();
  }

  /** It has just become active: its answer counts in the round under way, too. */
  onActive(learner: Learner): void {
    if (this.#asked.length > 0) this.#send(learner);
  }

  /** False for the answer to a round that has not begun: it would count in all up to there. */
  onAnswer(learner: Learner, round: number): boolean {
    if (round > this.#round) return false;
    learner.confirmedRound = Math.max(learner.confirmedRound, round);
    if (this.#asked.length > 0) this.#maybeComplete();
    return true;
  }

  #begin(): void {
    this.#round += 1;
    this.#asked = this.#waiting;
    this.#waiting = [];
    for (const learner of this.#learners.active()) this.#send(learner);
    this.#maybeComplete();
  }

  #send({ link }: Learner): void {
    this.#member.send(link, { kind: 'confirm', round: this.#round });
  }

  #maybeComplete(): void {
    const round = this.#round;
    const answered = (learner: Learner) => learner.active && learner.confirmedRound >= round;
    if (!this.#learners.isQuorum(answered)) return;
    const done = this.#asked;
    this.#asked = [];
    for (const { id, zxid } of done) this.#member.emit({ kind: 'confirmed', id, zxid });
    if (this.#waiting.length > 0) this.#begin();
  }
}
