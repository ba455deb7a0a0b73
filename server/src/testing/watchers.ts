/**
 * Waits until a condition holds, by checking it after every turn of every member.
 *
 * Nothing polls, and nothing is checked while no call waits. Used by `ensemble.ts`.
 */
import { EnsembleError } from './ensemble-error.js';

interface Watcher {
  look(): void;
  fail(error: EnsembleError): void;
}

export class Watchers {
  readonly #watchers = new Set<Watcher>();
  readonly #timeoutMs: number;
  #failure: EnsembleError | null = null;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Resolves with the first answer of `probe` that is not null. Rejects with `timedOut`, with what
   * `probe` throws, or with what `fail` was called with. `what` ends "waited 5 ms for".
   */
  until<T>(what: string, probe: () => T | null): Promise<T> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timeout);
        this.#watchers.delete(watcher);
        settle();
      };
      const fail = (error: unknown) => done(() => reject(error));
      const timeout = setTimeout(() => {
        fail(new EnsembleError('timedOut', `waited ${this.#timeoutMs} ms for ${what}`));
      }, this.#timeoutMs);
      const watcher: Watcher = {
        look: () => lookOnce(probe, (it) => done(() => resolve(it)), fail),
        fail,
      };
      this.#watchers.add(watcher);
      watcher.look();
    });
  }

  /** Something may have changed. */
  look(): void {
    for (const watcher of [...this.#watchers]) watcher.look();
  }

  /** Rejects every pending and later wait. The first failure stays. */
  fail(error: EnsembleError): void {
    this.#failure ??= error;
    for (const watcher of [...this.#watchers]) watcher.fail(error);
  }
}

function lookOnce<T>(
  probe: () => T | null,
  onAnswer: (answer: T) => void,
  onError: (error: unknown) => void,
): void {
  let answer: T | null;
  try {
    answer = probe();
  } catch (error) {
    onError(error);
    return;
  }
  if (answer !== null) onAnswer(answer);
}
