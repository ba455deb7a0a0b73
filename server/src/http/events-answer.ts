/**
 * `/api/v1/events`: what happened at the member, oldest first. `after=N` leaves out what the asker
 * has; `limit=` takes at most so many of the newest.
 */
import type { EventRing } from '../events/event-ring.js';
import { HttpError } from './http-error.js';
import type { HttpAnswer } from './http-port.js';

const LIMIT = 1000;

export function eventsAnswer(ring: EventRing, query: URLSearchParams): HttpAnswer {
  const after = wholeNumber(query, 'after', 0);
  const limit = Math.min(LIMIT, wholeNumber(query, 'limit', LIMIT));
  const all = ring.after(after);
  const events = all.slice(Math.max(0, all.length - limit));
  const body = JSON.stringify({ newest: ring.newest, lost: ring.lostAfter(after), events });
  return { status: 200, type: 'application/json', body };
}

function wholeNumber(query: URLSearchParams, name: string, value: number): number {
  const text = query.get(name);
  if (text === null) return value;
  if (!/^\d{1,15}$/.test(text)) throw new HttpError(400, `${name}: expected a whole number.`);
  return Number(text);
}
