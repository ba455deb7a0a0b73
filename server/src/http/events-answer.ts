/**
 * `/api/v1/events`: what happened at the member, oldest first, as a list or live.
 *
 * `after=N` leaves out what the asker has, and `start=S` says of which process that number is: of
 * another one everything is new, and `restarted` says so. `limit=` takes at most so many of the
 * newest. Asked with `Accept: text/event-stream` the events that come later follow, with
 * `<start>-<number>` as their ids, which `Last-Event-ID` gives back.
 */
import type { EventRing, MemberEvent } from '../events/event-ring.js';
import { type ApiCall, jsonAnswer } from './api/api-member.js';
import { wholeNumber } from './api/api-query.js';
import { eventStream, STREAMS_MAX } from './event-stream.js';
import { HttpError } from './http-error.js';
import type { HttpAnswer } from './http-port.js';

const LIMIT = 1000;
/** Of one piece of a stream. */
const AT_ONCE = 100;

interface Place {
  /** Null where it is not told. */
  readonly start: string | null;
  readonly after: number;
}

export class EventAnswers {
  readonly #ring: EventRing;
  #streams = 0;

  constructor(ring: EventRing) {
    this.#ring = ring;
  }

  readonly answer = ({ query, request }: ApiCall): HttpAnswer => {
    const { headers, signal } = request;
    const limit = wholeNumber(query, 'limit', { max: LIMIT, otherwise: LIMIT });
    const isStream = headers.accept?.includes('text/event-stream') === true;
    const last = isStream ? headers['last-event-id'] : undefined;
    const place = placeOf(query, typeof last === 'string' ? last : '');
    const { start, newest } = this.#ring;
    const restarted = place.start !== null && place.start !== start;
    const after = restarted ? 0 : place.after;
    const lost = this.#ring.lostAfter(after);
    if (isStream) return this.#stream({ after, lost, restarted }, limit, signal);
    const events = newestOf(this.#ring.after(after), limit);
    return jsonAnswer({ start, newest, lost, restarted, events });
  };

  #stream(
    from: { readonly after: number; readonly lost: number; readonly restarted: boolean },
    limit: number,
    signal: AbortSignal,
  ): HttpAnswer {
    if (this.#streams >= STREAMS_MAX) {
      throw new HttpError(429, `${STREAMS_MAX} others follow the events.`, { 'retry-after': '5' });
    }
    this.#streams += 1;
    const ring = this.#ring;
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
    const close = async (): Promise<void> => {
      this.#streams -= 1;
    };
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
