/**
 * Answers the four-letter words of all streams, a little in each turn, so that they hold up nobody.
 *
 * What one word asks for may be as long as there are connections, sessions or watches, and
 * strangers may ask many at once. So words have slices, bounded in time and characters, and after
 * one that was used up there is a pause, so that they take a third of the member's time at most.
 * Short answers come before listings, but a slice that had no time for listings owes them the next
 * one. Few listings are under way at a time, in the order in which they were asked for; the others
 * wait and hold nothing. Owned by the client port.
 */
import type { Timers } from './timers.js';
import type { WordAnswer } from './word-answer.js';

export interface WordLimits {
  /** Of one slice. */
  readonly durationMsMax: number;
  readonly charactersMax: number;
  /** After a slice that was used up. */
  readonly pauseMs: number;
  /** Under way at a time. */
  readonly listingsMax: number;
}

export const WORD_LIMITS: WordLimits = {
  durationMsMax: 2,
  charactersMax: 256 << 10,
  pauseMs: 4,
  listingsMax: 4,
};

/** What a step counts for at least: it may have been long without saying anything. */
const STEP_CHARACTERS_MIN = 1 << 10;

export class WordScheduler {
  readonly #timers: Timers;
  readonly #limits: WordLimits;
  /** Sets, in the order in which their answers go on. */
  readonly #short = new Set<WordAnswer>();
  readonly #listings = new Set<WordAnswer>();
  /** Their clients have to take what was written. */
  readonly #blocked = new Set<WordAnswer>();
  /** Listings that have not begun. */
  readonly #waiting = new Set<WordAnswer>();
  #isListingOwed = false;
  #isDue = false;
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #untilMs = 0;
  #charactersLeft = 0;

  constructor(timers: Timers, limits: WordLimits) {
    this.#timers = timers;
    this.#limits = limits;
  }

  /** Answered from the next slice on. */
  add(answer: WordAnswer): void {
    if (answer.isListing) this.#waiting.add(answer);
    else this.#short.add(answer);
    this.#schedule();
  }

  /** Its client has taken what was written. */
  onDrain(answer: WordAnswer): void {
    if (!this.#blocked.delete(answer)) return;
    this.#queueOf(answer).add(answer);
    this.#schedule();
  }

  /** Its stream is gone. */
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
    while (this.#mayGoOn && this.#stepOf(this.#short));
    while (this.#mayGoOn && this.#stepOf(this.#listings)) hasListed = true;
    this.#isListingOwed = !hasListed && this.#listings.size > 0;
    if (!this.#mayGoOn) this.#pauseFor(this.#timers.nowMs() - beganMs);
    this.#schedule();
  }

  /** One step may take longer than a slice: the pause is twice as long, then, as what it took. */
  #pauseFor(sliceMs: number): void {
    const pauseMs = Math.max(this.#limits.pauseMs, 2 * sliceMs);
    this.#pauseUntilMs = this.#timers.nowMs() + pauseMs;
  }

  get #mayGoOn(): boolean {
    return this.#charactersLeft > 0 && this.#timers.nowMs() < this.#untilMs;
  }

  /** A step of the first of them, which then comes last; false when there is none. */
  #stepOf(queue: Set<WordAnswer>): boolean {
    const [answer] = queue;
    if (answer === undefined) return false;
    queue.delete(answer);
    const { kind, characters } = answer.step();
    this.#charactersLeft -= Math.max(characters, STEP_CHARACTERS_MIN);
    if (kind === 'more') queue.add(answer);
    else if (kind === 'waits') this.#blocked.add(answer);
    return true;
  }

  /** As many listings as may be under way. */
  #begin(): void {
    let underWay = this.#listings.size;
    for (const answer of this.#blocked) if (answer.isListing) underWay += 1;
    for (const answer of this.#waiting) {
      if (underWay >= this.#limits.listingsMax) return;
      this.#waiting.delete(answer);
      this.#listings.add(answer);
      underWay += 1;
    }
  }
}
