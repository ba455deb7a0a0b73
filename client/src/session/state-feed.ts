/**
 * The client's state, and everybody who follows it: listeners, iterators and calls that wait for a
 * session.
 *
 * Changes are reported in order, even if a listener causes the next one. An exception of a listener
 * is reported as uncaught and affects nobody else.
 */

import type { ClientState, StateChange } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';

export type StateListener = (change: StateChange) => void;

/** What a change may have besides what SessionKeeper adds to each. */
export type ChangeDetails = Partial<Omit<StateChange, 'state' | 'readOnly'>>;

export class StateFeed {
  readonly #listeners = new Set<{ readonly listener: StateListener }>();
  readonly #untold: StateChange[] = [];
  #isTelling = false;
  #last: StateChange = {
    state: 'connecting',
    sessionId: null,
    newSession: false,
    readOnly: false,
    error: null,
  };

  get state(): ClientState {
    return this.#last.state;
  }

  /** The last change, or the initial state. */
  get last(): StateChange {
    return this.#last;
  }

  set(change: StateChange): void {
    this.#last = change;
    this.#untold.push(change);
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let next = this.#untold.shift(); next !== undefined; next = this.#untold.shift()) {
      for (const { listener } of [...this.#listeners]) callSafely(listener, next);
    }
    this.#isTelling = false;
  }

  /** A function that is added twice is called twice. Returns a function that removes it. */
  on(listener: StateListener): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  /** Starts with the current state, and ends after 'closed' or when the signal is aborted. */
  async *iterate(signal: AbortSignal | undefined): AsyncGenerator<StateChange, void, void> {
    const queue: StateChange[] = [this.#last];
    let wake: (() => void) | null = null;
    const notify = () => wake?.();
    const off = this.on((change) => {
      queue.push(change);
      notify();
    });
    const unfollow = signal === undefined ? null : onAbort(signal, notify);
    try {
      for (;;) {
        if (signal?.aborted === true) return;
        const change = queue.shift();
        if (change === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = null;
          continue;
        }
        yield change;
        if (change.state === 'closed') return;
      }
    } finally {
      off();
      unfollow?.();
    }
  }
}

function callSafely(listener: StateListener, change: StateChange): void {
  try {
    listener(change);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
