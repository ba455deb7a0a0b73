/**
 * One event that strangers can cause as often as they like: at most one line a second.
 *
 * A storm of clients must not become a storm of lines. Each line tells how many there were since
 * the one before it, itself included; the facts are those of the last.
 */
const INTERVAL_MS = 1000;

export type Facts = Readonly<Record<string, unknown>>;

export class StormLog {
  readonly #log: (facts: Facts) => void;
  #count = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: (facts: Facts) => void) {
    this.#log = log;
  }

  report(facts: Facts, nowMs: number): void {
    this.#count += 1;
    if (nowMs - this.#loggedAtMs < INTERVAL_MS) return;
    this.#loggedAtMs = nowMs;
    this.#log({ ...facts, dropped: this.#count });
    this.#count = 0;
  }
}
