/**
 * The newest events of all members, in the order of their times, bounded, each once. Pure.
 */
import { keyOf, type MemberEvent } from './member-event.js';

export const EVENTS_MAX = 3_000;

export class EventStore {
  #events: readonly MemberEvent[] = [];
  readonly #known = new Set<string>();

  /** The oldest first; another array after each change. */
  get events(): readonly MemberEvent[] {
    return this.#events;
  }

  /** Returns whether any of them is new. */
  add(events: readonly MemberEvent[]): boolean {
    const news = events.filter((event) => {
      const key = keyOf(event);
      if (this.#known.has(key)) return false;
      this.#known.add(key);
      return true;
    });
    if (news.length === 0) return false;
    const all = [...this.#events, ...news].sort((a, b) =>
      a.time < b.time ? -1 : a.time > b.time ? 1 : a.number - b.number,
    );
    for (const old of all.slice(0, Math.max(0, all.length - EVENTS_MAX))) {
      this.#known.delete(keyOf(old));
    }
    this.#events = all.slice(-EVENTS_MAX);
    return true;
  }
}
