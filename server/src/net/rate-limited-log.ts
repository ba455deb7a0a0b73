/**
 * A logger for events that strangers can cause as often as they like: at most one line a second for
 * each kind.
 *
 * The first event of a burst is logged at once. Then the last event of each second is logged, with
 * the number of events that were `leftOut`. The kind is the name of the event or the caller's
 * choice, and never something that a stranger sends. `close` logs what is left.
 */
import type { Logger } from 'pino';
import type { Timer, Timers } from './timers.js';

const INTERVAL_MS = 1000;

export type Facts = Readonly<Record<string, unknown>>;
type Level = 'info' | 'warn' | 'error';

interface Report {
  readonly level: Level;
  readonly event: string;
  readonly facts: Facts;
  readonly kind: string;
}

interface Storm {
  readonly event: string;
  readonly level: Level;
  last: Facts | null;
  /** The number of events since the last line. */
  count: number;
  timer: Timer;
}

export class RateLimitedLog {
  readonly #logger: Logger;
  readonly #timers: Pick<Timers, 'after'>;
  /** Kinds that were logged less than a second ago. */
  readonly #rateLimited = new Map<string, Storm>();

  constructor(logger: Logger, timers: Pick<Timers, 'after'>) {
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
    for (const storm of this.#rateLimited.values()) {
      storm.timer.cancel();
      this.#tell(storm);
    }
    this.#rateLimited.clear();
  }

  #report({ level, event, facts, kind }: Report): void {
    const storm = this.#rateLimited.get(kind);
    if (storm !== undefined) {
      storm.last = facts;
      storm.count += 1;
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
    const storm = this.#rateLimited.get(kind);
    if (storm === undefined) return;
    if (storm.count === 0) {
      this.#rateLimited.delete(kind);
      return;
    }
    this.#tell(storm);
    storm.timer = this.#timerFor(kind);
  }

  #tell(storm: Storm): void {
    const { level, event, last } = storm;
    if (last === null) return;
    const leftOut = storm.count - 1;
    this.#logger[level](leftOut === 0 ? last : { ...last, leftOut }, event);
    storm.last = null;
    storm.count = 0;
  }
}
