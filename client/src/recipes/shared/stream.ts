/**
 * An iterator over the events of a feed, with a bounded queue.
 *
 * It begins with a snapshot of the whole, taken when it is asked for, so that what follows it
 * applies to it; one whose consumer is too slow forgets its queue and begins again with another.
 * Used by the caches.
 */
import { checkCallOptions } from '../../call-options.js';
import type { Feed } from './feed.js';
import type { Runner } from './runner.js';

/** Events that may wait for the consumer of an iterator. */
export const CAPACITY_DEFAULT = 1024;

export interface StreamOptions {
  /** Ends the iterator. */
  readonly signal?: AbortSignal | undefined;
  /** Events that may wait; default 1024. */
  readonly capacity?: number | undefined;
}

/**
 * Ends by the signal or when the runner is stopped; throws what the runner fails with, after the
 * events that still wait.
 */
export async function* streamOf<E>(
  { feed, runner, snapshot }: StreamSource<E>,
  options: StreamOptions,
): AsyncGenerator<E, void> {
  checkCallOptions(options);
  const { signal, capacity = CAPACITY_DEFAULT } = options;
  // Its consumer is thrown the failure.
  const listening = runner.onFailure(() => {});
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
    if (signal?.aborted !== true && !runner.hasEndedWell) throw error;
  } finally {
    listening();
    stop();
  }
}

export interface StreamSource<E> {
  readonly feed: Feed<E>;
  readonly runner: Runner;
  readonly snapshot: () => E;
}
