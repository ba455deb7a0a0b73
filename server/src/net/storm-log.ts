/**
 * Lines about what strangers can cause as often as they like: at most one a second for each event.
 *
 * A storm of clients must not become a storm of lines. The first of a burst is told at once, then
 * each second the last of those that came meanwhile, with the number of those `leftOut`. Events are
 * literals of the code, so their number is bounded. `close` tells what is left.
 */
import type { Logger } from 'pino';
import type { Timer, Timers } from './timers.js';

const INTERVAL_MS = 1000;

export type Facts = Readonly<Record<string, unknown>>;
type Level = 'info' | 'warn' | 'error';

interface Storm {
  readonly level: Level;
  last: Facts | null;
  /** Since the last line. */
  count: number;
  timer: Timer;
}

export class StormLog {
  readonly #logger: Logger;
  readonly #timers: Pick<Timers, 'after'>;
  /** Events that were told less than a second ago. */
  readonly #storms = new Map<string, Storm>();

  constructor(logger: Logger, timers: Pick<Timers, 'after'>) {
    this.#logger = logger;
    this.#timers = timers;
  }

  info(event: string, facts: Facts): void {
    this.#report('info', event, facts);
  }

  warn(event: string, facts: Facts): void {
    this.#report('warn', event, facts);
  }

  error(event: string, facts: Facts): void {
    this.#report('error', event, facts);
  }

  /** Tells at once what it would have told later; it may be used again. */
  close(): void {
    for (const [event, storm] of this.#storms) {
      storm.timer.cancel();
      this.#tell(event, storm);
    }
    this.#storms.clear();
  }

  #report(level: Level, event: string, facts: Facts): void {
    const storm = this.#storms.get(event);
    if (storm !== undefined) {
      storm.last = facts;
      storm.count += 1;
      return;
    }
    this.#logger[level](facts, event);
    this.#storms.set(event, { level, last: null, count: 0, timer: this.#timerFor(event) });
  }

  #timerFor(event: string): Timer {
    return this.#timers.after(INTERVAL_MS, () => this.#onInterval(event));
  }

  #onInterval(event: string): void {
    const storm = this.#storms.get(event);
    if (storm === undefined) return;
    if (storm.count === 0) {
      this.#storms.delete(event);
      return;
    }
    this.#tell(event, storm);
    storm.timer = this.#timerFor(event);
  }

  #tell(event: string, storm: Storm): void {
    if (storm.last === null) return;
    const leftOut = storm.count - 1;
    const facts = leftOut === 0 ? storm.last : { ...storm.last, leftOut };
    this.#logger[storm.level](facts, event);
    storm.last = null;
    storm.count = 0;
  }
}
