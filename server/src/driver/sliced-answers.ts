/**
 * Answers to members' questions that take long: they are made in slices, one in each turn for all
 * of them together, so that they delay nobody.
 *
 * They are made one after the other, in the order of the questions. Their number is bounded, and
 * one for which nobody waits any more is dropped. Owned by PeerQuestions.
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
/** The answers that are being made or wait for it. */
const ANSWERS_MAX = 64;

export class SlicedAnswers {
  readonly #timers: Pick<Timers, 'nowMs' | 'defer'>;
  readonly #onAnswer: (answer: SlicedAnswer, text: string | null) => void;
  readonly #answers = new Fifo<SlicedAnswer>();
  #isSliceDue = false;

  constructor(
    timers: Pick<Timers, 'nowMs' | 'defer'>,
    onAnswer: (answer: SlicedAnswer, text: string | null) => void,
  ) {
    this.#timers = timers;
    this.#onAnswer = onAnswer;
  }

  /** Ignores the answer if too many are being made. */
  add(answer: SlicedAnswer): void {
    if (this.#answers.length >= ANSWERS_MAX) return;
    this.#answers.push(answer);
    this.#sliceSoon();
  }

  clear(): void {
    while (this.#answers.shift() !== undefined);
  }

  #sliceSoon(): void {
    if (this.#isSliceDue || this.#answers.length === 0) return;
    this.#isSliceDue = true;
    this.#timers.defer(() => {
      this.#isSliceDue = false;
      this.#slice();
      this.#sliceSoon();
    });
  }

  /** Goes on with the oldest answer, and with further ones while there is time. */
  #slice(): void {
    const endMs = this.#timers.nowMs() + SLICE_MS;
    do {
      const { first } = this.#answers;
      if (first === undefined) return;
      const isLate = this.#timers.nowMs() >= first.untilMs;
      const { done, value } = isLate ? { done: true, value: null } : first.steps.next();
      if (done !== true) continue;
      this.#answers.shift();
      if (!isLate) this.#onAnswer(first, value ?? null);
    } while (this.#timers.nowMs() < endMs);
  }
}
