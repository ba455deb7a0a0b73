/**
 * An iterator over the events of a feed, with a bounded queue.
 *
 * It begins with a snapshot of the whole content, taken when it is requested, so that the following
 * events apply to it. If the consumer is too slow, the queue is dropped and replaced by another
 * snapshot. Used by the caches.
 */
import { checkCallOptions } from '../../calls/call-options.js';
import type { Feed } from './feed.js';
import type { Runner } from './runner.js';

/** How many events may wait for the consumer of an iterator. */
export const CAPACITY_DEFAULT = 1024;

export interface StreamOptions {
  /** Aborting it ends the iterator. */
  readonly signal?: AbortSignal | undefined;
  /** How many events may wait; default 1024. */
  readonly capacity?: number | undefined;
}

/**
 * Ends with the signal or when the runner is stopped. Throws the runner's failure, after the events
 * that still wait.
 */
export async function* streamOf<E>(
  { feed, runner, snapshot }: StreamSource<E>,
  options: StreamOptions,
): AsyncGenerator<E, void> {
  checkCallOptions(options);
  const { signal, capacity = CAPACITY_DEFAULT } = options;
  // The failure is thrown in the loop, so it must not also be reported as unhandled.
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
