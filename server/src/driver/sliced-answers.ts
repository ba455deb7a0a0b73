/**
 * Answers to members' questions that take long: they are made in slices, one in each turn for all
 * of them together, so that they delay nobody.
 *
 * Members are served round-robin, one answer of each; those of one member are made in the order of
 * its questions. Their number is bounded for each member, and one for which nobody waits any more
 * is dropped. Owned by PeerQuestions.
 */
import { Fifo, type PeerId } from '@rookery/protocol';
import type { Timers } from '../net/timers.js';

/** An answer in steps, each of which takes far less than a slice; null for none. */
export type AnswerSteps = Generator<undefined, string | null>;

export interface SlicedAnswer {
  readonly peer: PeerId;
  readonly number: number;
  readonly steps: AnswerSteps;
  /** When whoever asked does not wait any more. */
  readonly untilMs: number;
}

/** How long answers may hold the event loop at a time, in ms. */
const SLICE_MS = 2;
/** The answers to one member that are being made or wait for it. */
const ANSWERS_MAX = 16;

export class SlicedAnswers {
  readonly #timers: Pick<Timers, 'nowMs' | 'defer'>;
  readonly #onAnswer: (answer: SlicedAnswer, text: string | null) => void;
  /** In the order in which members are served; the first one's oldest answer is made. */
  readonly #answers = new Map<PeerId, Fifo<SlicedAnswer>>();
  #isSliceDue = false;

  constructor(
    timers: Pick<Timers, 'nowMs' | 'defer'>,
    onAnswer: (answer: SlicedAnswer, text: string | null) => void,
  ) {
    this.#timers = timers;
    this.#onAnswer = onAnswer;
  }

  /** Ignores the answer if too many are being made for that member. */
  add(answer: SlicedAnswer): void {
    const { peer } = answer;
    const ofPeer = this.#answers.get(peer) ?? new Fifo();
    if (ofPeer.length >= ANSWERS_MAX) return;
    ofPeer.push(answer);
    this.#answers.set(peer, ofPeer);
    this.#sliceSoon();
  }

  clear(): void {
    this.#answers.clear();
  }

  #sliceSoon(): void {
    if (this.#isSliceDue || this.#answers.size === 0) return;
    this.#isSliceDue = true;
    this.#timers.defer(() => {
      this.#isSliceDue = false;
      this.#slice();
      this.#sliceSoon();
    });
  }

  /** Goes on with the answer that is begun, and with further ones while there is time. */
  #slice(): void {
    const endMs = this.#timers.nowMs() + SLICE_MS;
    do {
      const [ofPeer] = this.#answers.values();
      const first = ofPeer?.first;
      if (ofPeer === undefined || first === undefined) return;
      const isLate = this.#timers.nowMs() >= first.untilMs;
      const { done, value } = isLate ? { done: true, value: null } : first.steps.next();
      if (done !== true) continue;
      ofPeer.shift();
      this.#answers.delete(first.peer);
      if (ofPeer.length > 0) this.#answers.set(first.peer, ofPeer);
      if (!isLate) this.#onAnswer(first, value ?? null);
    } while (this.#timers.nowMs() < endMs);
  }
}
