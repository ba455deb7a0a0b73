/**
 * Logs events that strangers can cause without limit, at most one line per second and kind.
 *
 * The first event of a burst is logged at once. Then the last event of each second is logged, with
 * the number of events that were `leftOut`. The kind is the name of the event or the caller's
 * choice, and never something that a stranger sends. `close` logs what is left.
 */

import type { PeerId } from '@rookery/protocol';
import type { Logger, pino } from 'pino';
import type { Delays, Timer } from './timers.js';

const INTERVAL_MS = 1000;

type Facts = Readonly<Record<string, unknown>> & pino.LogFnFields;
type Level = 'info' | 'warn' | 'error';

interface Report {
  readonly level: Level;
  readonly event: string;
  readonly facts: Facts;
  readonly kind: string;
}

interface Burst {
  readonly event: string;
  readonly level: Level;
  last: Facts | null;
  /** The number of events since the last line. */
  count: number;
  timer: Timer;
}

export class RateLimitedLog {
  readonly #logger: Logger;
  readonly #timers: Delays;
  /** Kinds that were logged less than a second ago. */
  readonly #rateLimited = new Map<string, Burst>();

  constructor(logger: Logger, timers: Delays) {
    this.#logger = logger;
    this.#timers = timers;
  }

  info(event: string, facts: Facts, kind = event): void {
    this.#report({ level: 'info', event, facts, kind });
  }

  warn(event: string, facts: Facts, kind = event): void {
    this.#report({ level: 'warn', event, facts, kind });
  }

  error(event: string, facts: Facts, kind = event): void {
    this.#report({ level: 'error', event, facts, kind });
  }

  /** Logs at once what would have been logged later. The logger may be used again. */
  close(): void {
    for (const burst of this.#rateLimited.values()) {
      burst.timer.cancel();
      this.#log(burst);
    }
    this.#rateLimited.clear();
  }

  #report({ level, event, facts, kind }: Report): void {
    const burst = this.#rateLimited.get(kind);
    if (burst !== undefined) {
      burst.last = facts;
      burst.count += 1;
      return;
    }
    this.#logger[level](facts, event);
    this.#rateLimited.set(kind, {
      event,
      level,
      last: null,
      count: 0,
      timer: this.#timerFor(kind),
    });
  }

  #timerFor(kind: string): Timer {
    return this.#timers.after(INTERVAL_MS, () => this.#onInterval(kind));
  }

  #onInterval(kind: string): void {
    const burst = this.#rateLimited.get(kind);
    if (burst === undefined) return;
    if (burst.count === 0) {
      this.#rateLimited.delete(kind);
      return;
    }
    this.#log(burst);
    burst.timer = this.#timerFor(kind);
  }

  #log(burst: Burst): void {
    const { level, event, last } = burst;
    if (last === null) return;
    const leftOut = burst.count - 1;
    this.#logger[level](leftOut === 0 ? last : { ...last, leftOut }, event);
    burst.last = null;
    burst.count = 0;
  }
}

interface Trouble {
  readonly level: 'info' | 'warn' | 'error';
  /** The name of the event, `area.event`. */
  readonly event: string;
  /** The peer that has the trouble, also if a stranger only claims its id. */
  readonly peer: PeerId;
  readonly trouble: Facts & { readonly reason: string };
}

/** The key that all strangers which are not members share. */
const STRANGERS: PeerId = 0;

/**
 * Logs a problem with a peer once and not at each attempt, until it changes or ends.
 *
 * A member that is down is dialled every second, and only the first failure is news. Strangers that
 * claim an id, with a different trouble each time, are bounded by the rate-limited log.
 */
export class RepeatedTroubles {
  readonly #logger: Logger;
  readonly #rateLimited: RateLimitedLog;
  readonly #members: ReadonlyMap<PeerId, unknown>;
  readonly #last = new Map<PeerId, Map<string, string>>();

  constructor(logger: Logger, rateLimited: RateLimitedLog, members: ReadonlyMap<PeerId, unknown>) {
    this.#logger = logger;
    this.#rateLimited = rateLimited;
    this.#members = members;
  }

  report({ level, event, peer, trouble }: Trouble): void {
    const place = this.#members.has(peer) ? peer : STRANGERS;
    const events = this.#last.get(place) ?? new Map<string, string>();
    this.#last.set(place, events);
    if (events.get(event) === trouble.reason) {
      this.#logger.debug(trouble, event);
      return;
    }
    events.set(event, trouble.reason);
    this.#rateLimited[level](event, trouble, `${event} ${place}`);
  }

  /** The peer is connected, so its next trouble is news. */
  forget(peer: PeerId): void {
    this.#last.delete(peer);
  }
}
