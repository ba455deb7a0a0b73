/**
 * The events of all members for one reader, each as soon as it is known here.
 *
 * The own ones are taken when they happen. Every other member is asked by itself and holds the
 * question until something happens there, so no event waits for a clock, nor for a member that does
 * not answer. Only the questions to one member are APART_MS apart, which is the longest time that
 * this adds to the way of an event. One answer of each member is in memory at most: the next
 * question is asked when the reader has taken it. Made by EventAnswers for each reader.
 */
import type { Timers } from '../net/timers.js';
import type { MemberEvents } from './api/other-members.js';
import type { StreamedEvent } from './event-stream.js';
import {
  type JoinedEvents,
  type JoinedPage,
  joinedPage,
  NOWHERE,
  type Places,
  textOf,
} from './joined-events.js';

/** Between two questions to one member, which answers only so many in a second. */
export const APART_MS = 500;

export interface JoinedStreamOptions {
  /** Where the reader is; empty for one that begins, and gets the newest events of each member. */
  readonly from: Places;
  /** The events of one member that are taken at a time. */
  readonly limit: number;
  readonly timers: Pick<Timers, 'nowMs' | 'after'>;
}

export class JoinedStream {
  readonly #joined: JoinedEvents;
  readonly #options: JoinedStreamOptions;
  /** The answers that the reader has not taken yet, each with what is called then. */
  readonly #answered = new Map<number, { answer: MemberEvents; onTaken: () => void }>();
  /** What ends a wait of a loop early. */
  readonly #waits = new Set<() => void>();
  #places: Places;
  #wake: () => void = () => undefined;
  #state: 'new' | 'followed' | 'ended' = 'new';

  constructor(joined: JoinedEvents, options: JoinedStreamOptions) {
    this.#joined = joined;
    this.#options = options;
    this.#places = options.from;
  }

  /** `wake` is called when there may be something to take. Returns how to end everything. */
  onNews(wake: () => void): () => void {
    this.#wake = wake;
    const stop = this.#joined.own.ring.onEvent(wake);
    return () => {
      this.#state = 'ended';
      stop();
      for (const end of [...this.#waits]) end();
    };
  }

  /** Returns what is new, in the order of its times. Nothing is asked before it is called. */
  async take(): Promise<readonly StreamedEvent[]> {
    if (this.#state === 'new') {
      // A reader that begins gets what all have, joined; one that continues waits for nobody.
      const { limit } = this.#options;
      const begins = this.#places.size === 0;
      const page = begins ? await this.#joined.after(this.#places, limit) : this.#taken();
      // The reader may have gone in the meantime.
      if (this.#state === 'new') this.#follow(page.places);
      return piecesOf(page);
    }
    const page = this.#taken();
    this.#places = page.places;
    return piecesOf(page);
  }

  #follow(places: Places): void {
    this.#state = 'followed';
    this.#places = places;
    for (const id of this.#joined.others.ids) void this.#ask(id);
  }

  /** The own events and the answers that have come. */
  #taken(): JoinedPage {
    const { own } = this.#joined;
    const place = this.#places.get(own.id) ?? NOWHERE;
    const answers = [...this.#answered];
    this.#answered.clear();
    for (const [, { onTaken }] of answers) onTaken();
    return joinedPage(this.#places, [
      { id: own.id, answer: this.#joined.ownAfter(place, this.#options.limit) },
      ...answers.map(([id, { answer }]) => ({ id, answer })),
    ]);
  }

  /** Asks one member again and again. */
  async #ask(id: number): Promise<void> {
    const { timers, limit } = this.#options;
    while (this.#state !== 'ended') {
      const nextMs = timers.nowMs() + APART_MS;
      const place = this.#places.get(id) ?? NOWHERE;
      const answer = await this.#joined.others.events(id, { ...place, limit, wait: true });
      const isNews = answer !== null && (answer.events.length > 0 || answer.start !== place.start);
      if (isNews) {
        const taken = this.#wait();
        this.#answered.set(id, { answer, onTaken: taken.end });
        this.#wake();
        await taken.over;
      }
      const rest = this.#wait();
      const timer = timers.after(Math.max(0, nextMs - timers.nowMs()), rest.end);
      await rest.over;
      timer.cancel();
    }
  }

  /** `over` resolves when `end` is called, or the reader is gone. */
  #wait(): { readonly over: Promise<void>; readonly end: () => void } {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = () => {
        this.#waits.delete(end);
        resolve();
      };
    });
    if (this.#state === 'ended') end();
    else this.#waits.add(end);
    return { over, end };
  }
}

/** All of a piece have one id: who comes again begins behind the last whole piece. */
function piecesOf({ events, places, lost }: JoinedPage): readonly StreamedEvent[] {
  const id = textOf(places);
  const gone = Object.keys(lost).length > 0 ? [{ id: '', event: 'lost', data: lost }] : [];
  const sent = events.map((data, at) => {
    return { id: at === events.length - 1 ? id : '', event: 'event', data };
  });
  return [...gone, ...sent];
}
