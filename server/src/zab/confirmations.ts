/**
 * Rounds in which a leader asks its quorum whether it still leads (for sync and linearizable
 * reads).
 *
 * One round is under way at a time. Questions that are asked meanwhile share the next one, because
 * a round that began before a question proves nothing for it (ZOOKEEPER-1675, 2136). Called by
 * Leading while it serves.
 */
import type { Zxid } from '@rookery/protocol';
import type { Learner, Learners } from './learner.js';
import type { Member } from './member.js';

interface Confirmation {
  readonly id: number;
  /**
   * The last proposal when the question was asked, which the asker must see. The last commit would
   * not be enough: a client whose connection broke asks whether its write was done, which may not
   * be committed yet.
   */
  readonly zxid: Zxid;
}

export class Confirmations {
  readonly #member: Member;
  readonly #learners: Learners;
  #round = 0;
  /** The questions of the round under way; empty if there is none. */
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

  /** Includes a learner that has just become synced in the round under way. */
  onSynced(learner: Learner): void {
    if (this.#asked.length > 0) this.#send(learner);
  }

  /** Returns false for an answer to a round that has not begun, which a peer cannot know. */
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
    for (const learner of this.#learners.synced()) this.#send(learner);
    this.#maybeComplete();
  }

  #send({ link }: Learner): void {
    this.#member.send(link, { kind: 'confirm', round: this.#round });
  }

  #maybeComplete(): void {
    const round = this.#round;
    const answered = (learner: Learner) => learner.synced && learner.confirmedRound >= round;
    if (!this.#learners.isQuorum(answered)) return;
    const done = this.#asked;
    this.#asked = [];
    for (const { id, zxid } of done) this.#member.emit({ kind: 'confirmed', id, zxid });
    if (this.#waiting.length > 0) this.#begin();
  }
}
