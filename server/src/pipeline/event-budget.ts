/**
 * Bounds the watch events of one turn, and chooses whose connections are closed beyond that. An
 * event that is held back, because its watcher may not read the znode, counts as well: to judge it
 * takes as long as to write it.
 *
 * One multi may change thousands of znodes below a path that hundreds of connections watch, and all
 * of its events are written before anything else is answered. When the bound is reached, addresses
 * and users that hear a large part of all events give way, the largest first, until half of what is
 * heard is gone. Where nobody hears a large part, as with a cache at each of a hundred hosts, four
 * times as many events pass before the largest give way. Owned by Pipeline; the Applier counts in
 * it and asks it before each change.
 */
import type { WatcherId, WatchGroupsOf } from '../state/watches.js';

/** Some 50 ms of processor time: a thousand changes that 131 connections watch. */
const EVENTS_PER_TURN = 1 << 17;
/** Events are counted by watcher only past this part of the bound; most turns have far fewer. */
const COUNTED_FROM = 1 / 2;
/** An address or user that hears more than this part of the events gives way at the bound. */
const LARGE_PART = 1 / 8;
/** At this many times the bound the largest give way, however small they are. */
const SPREAD_FACTOR = 4;
/**
 * After a look that found large hearers, this part of the bound may follow before the next look.
 * After one that found none, as many events as there were: a look costs time, too.
 */
const MORE = 1 / 16;
const NOBODY: readonly WatcherId[] = [];

interface Heard {
  readonly watcher: WatcherId;
  readonly events: number;
  /** The events of its largest group. */
  readonly group: number;
}

export class EventBudget {
  readonly #groupsOf: WatchGroupsOf;
  readonly #eventsMax: number;
  readonly #heard = new Map<WatcherId, number>();
  #events = 0;
  #examinedAt: number;

  constructor(groupsOf: WatchGroupsOf, eventsMax = EVENTS_PER_TURN) {
    this.#groupsOf = groupsOf;
    this.#eventsMax = eventsMax;
    this.#examinedAt = eventsMax;
  }

  /** One event is about to be judged, and written if the watcher may read the znode. */
  add(watcher: WatcherId): void {
    this.#events += 1;
    if (this.#events <= this.#eventsMax * COUNTED_FROM) return;
    this.#heard.set(watcher, (this.#heard.get(watcher) ?? 0) + 1);
  }

  /** Returns the watchers that must get no further events; almost always none. */
  takeExcess(): readonly WatcherId[] {
    if (this.#events < this.#examinedAt) return NOBODY;
    const leaving = this.#largest();
    const more = leaving.length === 0 ? this.#events : this.#eventsMax * MORE;
    this.#examinedAt = this.#events + more;
    for (const watcher of leaving) this.#heard.delete(watcher);
    return leaving;
  }

  /** The turn is over. */
  renew(): void {
    this.#events = 0;
    this.#examinedAt = this.#eventsMax;
    if (this.#heard.size > 0) this.#heard.clear();
  }

  /** Returns watchers of the largest groups, until they account for half of all events. */
  #largest(): readonly WatcherId[] {
    const sums = new Map<string, number>();
    let total = 0;
    for (const [watcher, events] of this.#heard) {
      total += events;
      for (const group of this.#groupsOf(watcher)) {
        sums.set(group, (sums.get(group) ?? 0) + events);
      }
    }
    const all = [...this.#heard].map(([watcher, events]): Heard => {
      const group = Math.max(...this.#groupsOf(watcher).map((name) => sums.get(name) ?? 0));
      return { watcher, events, group };
    });
    all.sort((one, other) => other.group - one.group || other.events - one.events);
    const isSpreadTooFar = this.#events >= this.#eventsMax * SPREAD_FACTOR;
    const leaving: WatcherId[] = [];
    let wanted = total / 2;
    for (const { watcher, events, group } of all) {
      if (wanted <= 0 || !(isSpreadTooFar || group > total * LARGE_PART)) break;
      wanted -= events;
      leaving.push(watcher);
    }
    return leaving;
  }
}
