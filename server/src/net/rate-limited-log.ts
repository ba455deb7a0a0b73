/**
 * A logger for events that strangers can cause as often as they like: at most one line a second for
 * each kind.
 *
 * The first event of a burst is logged at once. Then the last event of each second is logged, with
 * the number of events that were `leftOut`. The kind is the name of the event or the caller's
 * choice, and never something that a stranger sends. `close` logs what is left.
 */
import type { Logger, pino } from 'pino';
import type { Timer, Timers } from './timers.js';

const INTERVAL_MS = 1000;

export type Facts = Readonly<Record<string, unknown>> & pino.LogFnFields;
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
  readonly #timers: Pick<Timers, 'after'>;
  /** Kinds that were logged less than a second ago. */
  readonly #rateLimited = new Map<string, Burst>();

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
    for (const burst of this.#rateLimited.values()) {
      burst.timer.cancel();
      this.#tell(burst);
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
    this.#tell(burst);
    burst.timer = this.#timerFor(kind);
  }

  #tell(burst: Burst): void {
    const { level, event, last } = burst;
    if (last === null) return;
    const leftOut = burst.count - 1;
    this.#logger[level](leftOut === 0 ? last : { ...last, leftOut }, event);
    burst.last = null;
    burst.count = 0;
  }
}
