/**
 * Schedules the answers to four-letter words, a little in each turn, so that they delay nobody.
 *
 * An answer may be as long as there are connections, sessions or watches, and strangers may ask for
 * many at once. So words get slices, bounded in time and characters. After a slice that was used up
 * there is a pause, so words take at most a third of the member's time. Short answers come before
 * listings, but after a slice without time for listings the next one begins with a listing.
 *
 * Listings begin in the order of their questions, and only while few are being produced; those that
 * have not begun use no memory. An answer is blocked while its client has not taken what was
 * written, and a blocked answer keeps no listing from beginning. Few answers may be blocked. When
 * there is one too many, one of the address with the most is dropped (fair-slots.ts): the one that
 * has been blocked longest. A client that goes on reading, but more slowly than its answer is made,
 * is no exception: its answer is blocked again after each part. Owned by the word service.
 */
import { FairSlots } from './fair-slots.js';
import type { Timers } from './timers.js';
import type { WordAnswer } from './word-answer.js';

export interface WordLimits {
  /** The duration of one slice, in ms. */
  readonly durationMsMax: number;
  readonly charactersMax: number;
  /** The pause after a slice that was used up, in ms. */
  readonly pauseMs: number;
  /** No listing begins while so many are being produced. */
  readonly listingsMax: number;
  /** The number of answers that may be blocked, because their clients have not taken a part yet. */
  readonly blockedMax: number;
}

export const WORD_LIMITS: WordLimits = {
  durationMsMax: 2,
  charactersMax: 256 << 10,
  pauseMs: 4,
  listingsMax: 4,
  blockedMax: 16,
};

/** A step without output takes time, too, so it counts as this number of characters. */
const STEP_CHARACTERS_MIN = 1 << 10;

export class WordScheduler {
  readonly #timers: Timers;
  readonly #limits: WordLimits;
  /** Short answers, in the order in which they continue. */
  readonly #short = new Set<WordAnswer>();
  /** Listings that have begun and are not blocked, in the order in which they continue. */
  readonly #listings = new Set<WordAnswer>();
  /** Answers that wait until their clients take what was written. */
  readonly #blocked: FairSlots<WordAnswer>;
  /** Listings that have not begun yet. */
  readonly #waiting = new Set<WordAnswer>();
  #isListingOwed = false;
  #isDue = false;
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #untilMs = 0;
  #charactersLeft = 0;

  constructor(timers: Timers, limits: WordLimits) {
    this.#timers = timers;
    this.#limits = limits;
    this.#blocked = new FairSlots(limits.blockedMax);
  }

  /**
   * Adds an answer. A short one begins in the next slice, a listing once fewer than `listingsMax`
   * are being produced.
   */
  add(answer: WordAnswer): void {
    if (answer.isListing) this.#waiting.add(answer);
    else this.#short.add(answer);
    this.#schedule();
  }

  /** The client has taken what was written. */
  onDrain(answer: WordAnswer): void {
    if (!this.#blocked.delete(answer)) return;
    this.#queueOf(answer).add(answer);
    this.#schedule();
  }

  /** Forgets an answer whose stream is gone. */
  forget(answer: WordAnswer): void {
    this.#blocked.delete(answer);
    this.#waiting.delete(answer);
    this.#queueOf(answer).delete(answer);
    this.#schedule();
  }

  #queueOf({ isListing }: WordAnswer): Set<WordAnswer> {
    return isListing ? this.#listings : this.#short;
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#begin();
    if (this.#short.size + this.#listings.size === 0) return;
    this.#isDue = true;
    const pauseMs = this.#pauseUntilMs - this.#timers.nowMs();
    if (pauseMs > 0) this.#timers.after(pauseMs, () => this.#slice());
    else this.#timers.defer(() => this.#slice());
  }

  #slice(): void {
    this.#isDue = false;
    const beganMs = this.#timers.nowMs();
    this.#untilMs = beganMs + this.#limits.durationMsMax;
    this.#charactersLeft = this.#limits.charactersMax;
    let hasListed = false;
    if (this.#isListingOwed) hasListed = this.#stepOf(this.#listings);
    while (this.#mayContinue && this.#stepOf(this.#short));
    while (this.#mayContinue && this.#stepOf(this.#listings)) hasListed = true;
    this.#isListingOwed = !hasListed && this.#listings.size > 0;
    if (!this.#mayContinue) this.#pauseFor(this.#timers.nowMs() - beganMs);
    this.#schedule();
  }

  /** A step may take longer than a slice. The pause is then twice as long as the step. */
  #pauseFor(sliceMs: number): void {
    const pauseMs = Math.max(this.#limits.pauseMs, 2 * sliceMs);
    this.#pauseUntilMs = this.#timers.nowMs() + pauseMs;
  }

  get #mayContinue(): boolean {
    return this.#charactersLeft > 0 && this.#timers.nowMs() < this.#untilMs;
  }

  /** Makes a step of the first answer, which then moves to the end; false if there is none. */
  #stepOf(queue: Set<WordAnswer>): boolean {
    const [answer] = queue;
    if (answer === undefined) return false;
    queue.delete(answer);
    const { kind, characters } = answer.step();
    this.#charactersLeft -= Math.max(characters, STEP_CHARACTERS_MIN);
    if (kind === 'more') queue.add(answer);
    else if (kind === 'waits') this.#blocked.add(answer)?.drop();
    return true;
  }

  /** Begins as many listings as may be produced at a time. */
  #begin(): void {
    for (const answer of this.#waiting) {
      if (this.#listings.size >= this.#limits.listingsMax) return;
      this.#waiting.delete(answer);
      this.#listings.add(answer);
    }
  }
}
