/**
 * Rounds in which a leader asks its quorum whether it still leads (sync, linearizable reads).
 *
 * One round is under way at a time; what asks meanwhile shares the next one. A round that began
 * before a question was asked proves nothing for it (ZOOKEEPER-1675, 2136).
 */
import type { Zxid } from '@rookery/protocol';

export interface Confirmation {
  readonly id: number;
  /**
   * The last proposal when the question was asked: what the asker must see. Not the last commit:
   * a client whose connection broke asks whether its write, which may be on its way, was done.
   */
  readonly zxid: Zxid;
}

export class Confirmations {
  #round = 0;
  #asked: Confirmation[] = [];
  #waiting: Confirmation[] = [];

  /** The round under way, or null. */
  get round(): number | null {
    return this.#asked.length > 0 ? this.#round : null;
  }

  /** Returns the round to start now, or null when one is under way. */
  ask(confirmation: Confirmation): number | null {
    this.#waiting.push(confirmation);
    return this.#asked.length > 0 ? null : this.#next();
  }

  /** A quorum answered the round: what it proves, and the round to start next, if any. */
  complete(): { readonly done: readonly Confirmation[]; readonly next: number | null } {
    const done = this.#asked;
    this.#asked = [];
    return { done, next: this.#waiting.length > 0 ? this.#next() : null };
  }

  #next(): number {
    this.#round += 1;
    this.#asked = this.#waiting;
    this.#waiting = [];
    return this.#round;
  }
}
