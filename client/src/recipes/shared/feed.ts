/**
 * Who hears of what: listeners, called at once and in order, and iterators with a bounded queue.
 *
 * An iterator begins with a snapshot of the whole, taken when it is asked for, so that what follows
 * it applies to it; one whose consumer is too slow forgets its queue and begins again with another.
 * What a listener throws is reported as uncaught and disturbs nobody. Used by the caches.
 */
import type { Runner } from './runner.js';

/** Events that may wait for the consumer of an iterator. */
export const CAPACITY_DEFAULT = 1024;

export interface StreamOptions {
  /** Ends the iterator. */
  readonly signal?: AbortSignal | undefined;
  /** Events that may wait; default 1024. */
  readonly capacity?: number | undefined;
}

export class Feed<E> {
  readonly #listeners = new Set<(event: E) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** Gives what undoes it. The same function given twice is called twice. */
  listen(listener: (event: E) => void): () => void {
    const entry = (event: E) => listener(event);
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  tell(event: E): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        // From a fresh stack, where no code of ours can take it for its own.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/**
 * Ends by the signal or when the runner is stopped; throws what the runner fails with, after the
 * events that still wait.
 */
export async function* streamOf<E>(
  { feed, runner, snapshot }: StreamSource<E>,
  { signal, capacity = CAPACITY_DEFAULT }: StreamOptions,
): AsyncGenerator<E, void> {
  let queue: E[] = [];
  let isBehind = true;
  const stop = feed.listen((event) => {
    if (isBehind) return;
    if (queue.length < capacity) {
      queue.push(event);
    } else {
      isBehind = true;
      queue = [];
    }
    runner.changes.notify();
  });
  try {
    while (signal?.aborted !== true) {
      const event = queue.shift();
      if (event !== undefined) {
        yield event;
      } else if (isBehind) {
        isBehind = false;
        yield snapshot();
      } else {
        await runner.until({ signal }, () => (isBehind || queue.length > 0 ? true : null));
      }
    }
  } catch (error) {
    const isEnd = signal?.aborted === true || (runner.failure === null && runner.isStopped);
    if (!isEnd) throw error;
  } finally {
    stop();
  }
}

export interface StreamSource<E> {
  readonly feed: Feed<E>;
  readonly runner: Runner;
  readonly snapshot: () => E;
}
