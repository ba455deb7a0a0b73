/**
 * The events of all members as one list, each with its member, in the order of their times, which
 * are those of the members' own clocks. `joined-stream.ts` has those that follow.
 *
 * How far a reader is, is a place for each member: process and number. `placesOf` and `textOf` make
 * it the text that `Last-Event-ID` gives back: `1:1700000000000-12,2:1700000000003-4`.
 */

import { EVENTS_PER_ANSWER, eventsAfter } from '../driver/member-answers.js';
import type { EventRing, MemberEvent } from '../measures/event-ring.js';
import type { MemberEvents, OtherMembers } from './api/other-members.js';

export interface Place {
  /** Null before anything was read. */
  readonly start: string | null;
  readonly after: number;
}

export type Places = ReadonlyMap<number, Place>;

export interface JoinedEvent extends MemberEvent {
  readonly member: number;
  readonly start: string;
}

export interface JoinedPage {
  readonly events: readonly JoinedEvent[];
  readonly places: Places;
  /** Members whose events are not among these: they did not answer. */
  readonly silent: readonly number[];
  /** Events that are gone, by their members. */
  readonly lost: Readonly<Record<string, number>>;
}

/** Where a reader is that has read nothing of a member. */
export const NOWHERE: Place = { start: null, after: 0 };
const MEMBERS_MAX = 255;

/** The member that is asked. */
export interface OwnEvents {
  readonly id: number;
  readonly ring: EventRing;
}

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

export interface MemberAnswer {
  readonly id: number;
  /** Null where it did not answer. */
  readonly answer: MemberEvents | null;
}

/** What members have answered to a reader who was at these places. */
export function joinedPage(places: Places, answers: readonly MemberAnswer[]): JoinedPage {
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

export function textOf(places: Places): string {
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
