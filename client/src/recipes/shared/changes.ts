/**
 * The changes of an object's state, for those who wait for a certain one: whoever looks, then waits
 * for the next change, then looks again misses none. Holds no state itself. Used by the recipes
 * that run in the background.
 */
import { onAbort } from '../../abort-followers.js';
import type { Client } from '../../api/client.js';
import { WaitTimeoutError } from './errors.js';
import { unlessAborted, type WaitOptions, WaitScope } from './wait-scope.js';

export class Changes {
  #next: Promise<void> | null = null;
  #resolve: () => void = () => {};

  /** Resolves at the next change. */
  get next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    return this.#next;
  }

  notify(): void {
    this.#next = null;
    this.#resolve();
  }
}

/** The first value that `read` gives which is not null; its error, if it throws one. */
export async function untilSo<T>(
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
      const { next } = changes;
      const value = read();
      if (value !== null) return value;
      await unlessAborted(next, scope.signal);
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
