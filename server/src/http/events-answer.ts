/**
 * `/api/v1/events`: what happened at the member, oldest first, as a list or live.
 *
 * `after=N` leaves out what the asker has, and `start=S` says of which process that number is: of
 * another one everything is new, and `restarted` says so. `limit=` takes at most so many of the
 * newest. Asked with `Accept: text/event-stream` the events that come later follow, with
 * `<start>-<number>` as their ids, which `Last-Event-ID` gives back. With `members=all` they are
 * those of all members: see joined-stream.ts.
 */
import type { MemberEvent } from '../measures/event-ring.js';
import { systemTimers } from '../net/timers.js';
import { type ApiCall, jsonAnswer, oneOf, wholeNumber } from './api/api-call.js';
import { askerOf } from './api/caller.js';
import type { OthersFor } from './api/other-members.js';
import { badRequest } from './api/problem.js';
import { eventStream, StreamPlaces } from './event-stream.js';
import type { HttpAnswer } from './http-port.js';
import {
  JoinedEvents,
  JoinedStream,
  type OwnEvents,
  placesOf,
  placesText,
} from './joined-stream.js';

const LIMIT = 1000;
/** The events in one piece of a stream. */
const AT_ONCE = 100;
const STREAMS_MAX = 16;
/** Each asks every member by itself, and they answer only so many questions. */
const JOINED_STREAMS_MAX = 4;

interface Place {
  /** Null if the reader did not name it. */
  readonly start: string | null;
  readonly after: number;
}

export class EventAnswers {
  readonly #own: OwnEvents;
  readonly #others: OthersFor;
  readonly #places = new StreamPlaces(STREAMS_MAX, {
    what: 'follow the events',
    otherwise: 'ask another member, or ask for the events without a stream',
  });
  readonly #joinedPlaces = new StreamPlaces(JOINED_STREAMS_MAX, {
    what: 'follow the events of all members',
    otherwise: 'ask another member, or follow those of one member (members=own)',
  });

  constructor(own: OwnEvents, others: OthersFor) {
    this.#own = own;
    this.#others = others;
  }

  readonly answer = (call: ApiCall): HttpAnswer | Promise<HttpAnswer> => {
    const { query, request } = call;
    const { headers } = request;
    if (oneOf(query, 'members', ['own', 'all'], 'own') === 'all') return this.#ofAll(call);
    const limit = wholeNumber(query, 'limit', { max: LIMIT, otherwise: LIMIT });
    const isStream = headers.accept?.includes('text/event-stream') === true;
    const last = isStream ? headers['last-event-id'] : undefined;
    const place = placeOf(query, typeof last === 'string' ? last : '');
    const { start, newest } = this.#own.ring;
    const restarted = place.start !== null && place.start !== start;
    const after = restarted ? 0 : place.after;
    const lost = this.#own.ring.lostAfter(after);
    if (isStream) return this.#stream({ after, lost, restarted }, limit, call);
    const events = newestOf(this.#own.ring.after(after), limit);
    return jsonAnswer({ start, newest, lost, restarted, events });
  };

  async #ofAll({ query, caller, request: { headers, signal } }: ApiCall): Promise<HttpAnswer> {
    const isStream = headers.accept?.includes('text/event-stream') === true;
    const limit = wholeNumber(query, 'limit', { min: 1, max: AT_ONCE, otherwise: AT_ONCE });
    const last = isStream ? headers['last-event-id'] : undefined;
    const text = typeof last === 'string' ? last : query.get('places');
    const from = text === null || text === '' ? new Map() : placesOf(text);
    if (from === null) throw badRequest('places: expected what an answer had as places.');
    const joined = new JoinedEvents(this.#own, this.#others(caller));
    if (!isStream) {
      const { places, ...page } = await joined.after(from, limit);
      return jsonAnswer({ ...page, places: placesText(places) });
    }
    const giveBack = this.#joinedPlaces.take(askerOf(caller));
    const stream = new JoinedStream(joined, from, limit, systemTimers());
    const onNews = (wake: () => void) => stream.onNews(wake);
    const close = async (): Promise<void> => giveBack();
    return { ...eventStream(() => stream.take(), { signal, onNews }), close };
  }

  #stream(
    from: { readonly after: number; readonly lost: number; readonly restarted: boolean },
    limit: number,
    { caller, request: { signal } }: ApiCall,
  ): HttpAnswer {
    const giveBack = this.#places.take(askerOf(caller));
    const ring = this.#own.ring;
    const { start } = ring;
    let at = Math.max(from.after, ring.newest - limit);
    const { lost, restarted } = from;
    let isFirst = true;
    const take = () => {
      const hello = isFirst ? [{ id: '', event: 'start', data: { start, lost, restarted } }] : [];
      isFirst = false;
      const events = ring.after(at).slice(0, AT_ONCE);
      at = events.at(-1)?.number ?? at;
      const sent = events.map((data) => {
        return { id: `${start}-${data.number}`, event: 'event', data };
      });
      return [...hello, ...sent];
    };
    const close = async (): Promise<void> => giveBack();
    return { ...eventStream(take, { signal, onNews: (wake) => ring.onEvent(wake) }), close };
  }
}

function newestOf(events: readonly MemberEvent[], limit: number): readonly MemberEvent[] {
  return events.slice(Math.max(0, events.length - limit));
}

function placeOf(query: URLSearchParams, last: string): Place {
  const [, start, number] = /^(\d{1,15})-(\d{1,15})$/.exec(last) ?? [];
  if (start !== undefined) return { start, after: Number(number) };
  return { start: query.get('start'), after: wholeNumber(query, 'after', { otherwise: 0 }) };
}
