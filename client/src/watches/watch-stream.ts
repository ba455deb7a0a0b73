/**
 * A persistent watch as an async iterator with a bounded queue.
 *
 * At most `capacity` events wait. One more event replaces all of them by a single 'resync'
 * (overflow), which means the same to a consumer that then reads again. The watch is removed
 * however the iteration ends: by leaving the loop, the signal, an error or the close of the client.
 * Used by `client.watch`, and by views through their own addWatch.
 */
import { NoWatcherError, SessionExpiredError } from '@rookery/protocol';
import type { Client, WatchHandle, WatchStreamOptions } from '../api/client.js';
import { ClientClosedError, OptionError } from '../api/errors.js';
import type { WatchEvent } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import { EventQueue } from './event-queue.js';

const CAPACITY_DEFAULT = 1024;

/**
 * The watch is requested at once, and not with the first iteration of the loop, so a read that is
 * called after this shows all changes that no event will report. The result has a single consumer,
 * because it is its own iterator.
 */
export function watchStream(
  client: Pick<Client, 'addWatch'>,
  path: string,
  options: WatchStreamOptions = {},
): AsyncIterableIterator<WatchEvent, undefined> {
  const { capacity = CAPACITY_DEFAULT } = options;
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new OptionError('capacity', `is ${capacity}, but must be an integer of at least 1`);
  }
  return new WatchStream(client, path, { ...options, capacity });
}

interface Waiting {
  readonly resolve: (result: IteratorResult<WatchEvent, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

class WatchStream implements AsyncIterableIterator<WatchEvent, undefined> {
  readonly #path: string;
  readonly #events: EventQueue;
  readonly #unfollow: (() => void) | undefined;
  /** Aborts an addWatch that is still in flight. */
  readonly #ended = new AbortController();
  /** The calls of next() that wait for an event. */
  readonly #waiting: Waiting[] = [];
  /** The error to throw, once, after the events that still wait. */
  #error: unknown;
  #handle: WatchHandle | undefined;

  constructor(
    client: Pick<Client, 'addWatch'>,
    path: string,
    options: WatchStreamOptions & { readonly capacity: number },
  ) {
    const { signal, capacity, ...addOptions } = options;
    this.#path = path;
    this.#events = new EventQueue(capacity, { type: 'resync', path, reason: 'overflow' });
    if (signal?.aborted === true) {
      this.#ended.abort();
      return;
    }
    if (signal !== undefined) this.#unfollow = onAbort(signal, this.#leave);
    const watcher = (event: WatchEvent) => this.#onEvent(event);
    client.addWatch(path, watcher, { ...addOptions, signal: this.#ended.signal }).then(
      (handle) => this.#onStands(handle),
      (error: unknown) => this.#end(error),
    );
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<WatchEvent, undefined>> {
    const event = this.#events.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#error !== undefined) {
      const error = this.#error;
      this.#error = undefined;
      return Promise.reject(error);
    }
    if (this.#ended.signal.aborted) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /**
   * Called when the loop is left. It does not wait for a server; no event is reported from now on.
   */
  return(): Promise<IteratorResult<WatchEvent, undefined>> {
    this.#leave();
    return Promise.resolve(DONE);
  }

  readonly #leave = (): void => {
    this.#events.clear();
    this.#error = undefined;
    this.#end(undefined);
  };

  #onStands(handle: WatchHandle): void {
    this.#handle = handle;
    if (this.#ended.signal.aborted) void handle.remove();
  }

  #onEvent(event: WatchEvent): void {
    if (this.#ended.signal.aborted) return;
    switch (event.type) {
      case 'closed':
        return this.#end(new ClientClosedError());
      case 'lost':
        return this.#end(new SessionExpiredError(this.#path));
      case 'removed':
        return this.#end(new NoWatcherError(this.#path));
      default: {
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#events.push(event);
        else waiting.resolve({ done: false, value: event });
      }
    }
  }

  /** An error is thrown once: to the call that waits longest, or to the next call. */
  #end(error: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#unfollow?.();
    void this.#handle?.remove();
    const [first, ...others] = this.#waiting.splice(0);
    if (error !== undefined) {
      if (first === undefined) this.#error = error;
      else first.reject(error);
    } else {
      first?.resolve(DONE);
    }
    for (const waiting of others) waiting.resolve(DONE);
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
