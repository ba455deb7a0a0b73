/**
 * Streams the events of all members to one reader, each as soon as it is known here.
 *
 * The own ones are taken when they happen. Every other member is asked by itself and holds the
 * question until something happens there, so no event waits for a clock, nor for a member that does
 * not answer. Only the questions to one member are APART_MS apart, which is the longest time that
 * this adds to the way of an event. One answer of each member is in memory at most: the next
 * question is asked when the reader has taken it. Made by EventAnswers for each reader.
 */

import { EVENTS_PER_ANSWER, eventsAfter } from '../driver/member-answers.js';
import type { EventRing, MemberEvent } from '../measures/event-ring.js';
import type { Timers } from '../net/timers.js';
import type { MemberEvents, OtherMembers } from './api/other-members.js';
import type { StreamedEvent } from './event-stream.js';

interface Place {
  /** Null before anything was read. */
  readonly start: string | null;
  readonly after: number;
}

type Places = ReadonlyMap<number, Place>;

interface JoinedEvent extends MemberEvent {
  readonly member: number;
  readonly start: string;
}

interface JoinedPage {
  readonly events: readonly JoinedEvent[];
  readonly places: Places;
  /** Members whose events are not among these: they did not answer. */
  readonly silent: readonly number[];
  /** Events that are gone, by their members. */
  readonly lost: Readonly<Record<string, number>>;
}

/** Where a reader is that has read nothing of a member. */
const NOWHERE: Place = { start: null, after: 0 };
const MEMBERS_MAX = 255;

/** The member that is asked. */
export interface OwnEvents {
  readonly id: number;
  readonly ring: EventRing;
}

/**
 * The events of all members as one list, each with its member, in the order of their times, which
 * are those of the members' own clocks. `joined-stream.ts` has those that follow.
 *
 * A reader's position is a place for each member: process and number. `placesOf` reads and
 * `placesText` writes the text that `Last-Event-ID` gives back:
 * `1:1700000000000-12,2:1700000000003-4`.
 */
export class JoinedEvents {
  readonly own: OwnEvents;
  readonly others: OtherMembers;

  constructor(own: OwnEvents, others: OtherMembers) {
    this.own = own;
    this.others = others;
  }

  /**
   * Returns the next events after these places, and the newest ones of a member without a place: at
   * most `limit` of each member.
   */
  async after(places: Places, limit = EVENTS_PER_ANSWER): Promise<JoinedPage> {
    const ownAnswer: MemberAnswer = {
      id: this.own.id,
      answer: this.ownAfter(places.get(this.own.id) ?? NOWHERE, limit),
    };
    const others = this.others.ids.map(async (id): Promise<MemberAnswer> => {
      const asked = { ...(places.get(id) ?? NOWHERE), limit };
      return { id, answer: await this.others.events(id, asked) };
    });
    return joinedPage(places, [ownAnswer, ...(await Promise.all(others))]);
  }

  /** Those of the member that is asked. */
  ownAfter({ start, after }: Place, limit: number): MemberEvents {
    const { events, ...rest } = eventsAfter(this.own.ring, { start, after, limit });
    return { ...rest, events: events.map((event) => ({ ...event })) };
  }
}

interface MemberAnswer {
  readonly id: number;
  /** Null where it did not answer. */
  readonly answer: MemberEvents | null;
}

/** What members have answered to a reader who was at these places. */
function joinedPage(places: Places, answers: readonly MemberAnswer[]): JoinedPage {
  const next = new Map(places);
  const events: JoinedEvent[] = [];
  const lost: Record<string, number> = {};
  for (const { id, answer } of answers) {
    if (answer === null) continue;
    const { start } = answer;
    const before = answer.restarted ? 0 : (places.get(id)?.after ?? 0);
    next.set(id, { start, after: answer.events.at(-1)?.number ?? before });
    // A reader that begins here has missed nothing.
    if (places.has(id) && answer.lost > 0) lost[id] = answer.lost;
    for (const event of answer.events) events.push({ member: id, start, ...event });
  }
  events.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const silent = answers.filter(({ answer }) => answer === null).map(({ id }) => id);
  return { events, places: next, silent, lost };
}

export function placesText(places: Places): string {
  return [...places].map(([id, { start, after }]) => `${id}:${start ?? 0}-${after}`).join(',');
}

/** Null for what is no text of places. */
export function placesOf(text: string): Places | null {
  const places = new Map<number, Place>();
  for (const one of text.split(',')) {
    const [, id, start = '', after] = /^(\d{1,3}):(\d{1,15})-(\d{1,15})$/.exec(one) ?? [];
    if (id === undefined || places.size >= MEMBERS_MAX) return null;
    places.set(Number(id), { start, after: Number(after) });
  }
  return places;
}

/** Between two questions to one member, which answers only so many in a second. */
export const APART_MS = 500;

export class JoinedStream {
  readonly #joined: JoinedEvents;
  readonly #limit: number;
  readonly #timers: Timers;
  /** The answers that the reader has not taken yet, each with what is called then. */
  readonly #answered = new Map<number, { answer: MemberEvents; onTaken: () => void }>();
  /** What ends a wait of a loop early. */
  readonly #waits = new Set<() => void>();
  #places: Places;
  #wake: () => void = () => undefined;
  #state: 'new' | 'followed' | 'ended' = 'new';

  /**
   * `from` is where the reader is; empty for one that begins, and gets the newest events of each
   * member. At most `limit` events of one member are taken at a time.
   */
  constructor(joined: JoinedEvents, from: Places, limit: number, timers: Timers) {
    this.#joined = joined;
    this.#places = from;
    this.#limit = limit;
    this.#timers = timers;
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
      // A new reader gets the events of all members, joined; one that continues waits for none.
      const begins = this.#places.size === 0;
      const page = begins ? await this.#joined.after(this.#places, this.#limit) : this.#taken();
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
      { id: own.id, answer: this.#joined.ownAfter(place, this.#limit) },
      ...answers.map(([id, { answer }]) => ({ id, answer })),
    ]);
  }

  /** Asks one member again and again. */
  async #ask(id: number): Promise<void> {
    const [timers, limit] = [this.#timers, this.#limit];
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
  const id = placesText(places);
  const gone = Object.keys(lost).length > 0 ? [{ id: '', event: 'lost', data: lost }] : [];
  const sent = events.map((data, at) => {
    return { id: at === events.length - 1 ? id : '', event: 'event', data };
  });
  return [...gone, ...sent];
}
