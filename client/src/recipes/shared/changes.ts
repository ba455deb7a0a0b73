/**
 * Notifies waiters of changes of an object's state. A caller that checks the state, waits for the
 * next change and checks again misses nothing. It holds no state itself. Used by the recipes that
 * run in the background.
 *
 * Each wait has its own promise, and the caller must remove it at the end. If many waits shared one
 * promise that rarely settles, it would keep the reactions of all of them, and leak memory for each
 * wait that ended otherwise.
 */

import type { Client } from '../../api/client.js';
import { onAbort } from '../../calls/abort-followers.js';
import { WaitTimeoutError } from './errors.js';
import { unlessAborted, type WaitOptions, WaitScope } from './wait-scope.js';

/** One wait for the next change. */
export interface NextChange {
  readonly happens: Promise<void>;
  /**
   * Stops waiting; the promise stays pending if there was no change yet. Calling it again has no
   * effect.
   */
  forget(): void;
}

export class Changes {
  readonly #waiters = new Set<() => void>();

  /** Waits for the first change after this call. */
  next(): NextChange {
    let onChange = () => {};
    const happens = new Promise<void>((resolve) => {
      onChange = resolve;
    });
    this.#waiters.add(onChange);
    return { happens, forget: () => void this.#waiters.delete(onChange) };
  }

  /** Resolves at the next change; rejects with the signal's reason if it is aborted first. */
  async wait(signal: AbortSignal): Promise<void> {
    const next = this.next();
    try {
      await unlessAborted(next.happens, signal);
    } finally {
      next.forget();
    }
  }

  /** The number of waits that have neither been notified nor removed. */
  get waiterCount(): number {
    return this.#waiters.size;
  }

  notify(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const onChange of waiters) onChange();
  }
}

/**
 * Resolves with the first value of `read` that is not null; rejects with its error if it throws.
 */
export async function waitUntil<T>(
  client: Client,
  changes: Changes,
  options: WaitOptions & { readonly path: string },
  read: () => T | null,
): Promise<T> {
  const { path, timeoutMs } = options;
  const scope = WaitScope.open(client, options, () => new WaitTimeoutError(path, timeoutMs ?? 0));
  try {
    for (;;) {
      scope.signal.throwIfAborted();
      const next = changes.next();
      try {
        const value = read();
        if (value !== null) return value;
        await unlessAborted(next.happens, scope.signal);
      } finally {
        next.forget();
      }
    }
  } finally {
    scope.close();
  }
}

/** Resolves when one of the signals is aborted. */
export async function untilAborted(...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return;
  let unfollows: (() => void)[] = [];
  await new Promise<void>((resolve) => {
    unfollows = signals.map((signal) => onAbort(signal, resolve));
  });
  for (const unfollow of unfollows) unfollow();
}
