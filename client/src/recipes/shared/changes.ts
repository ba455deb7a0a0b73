/**
 * The changes of an object's state, for those who wait for a certain one: whoever looks, then waits
 * for the next change, then looks again misses none. Holds no state itself. Used by the recipes
 * that run in the background.
 *
 * Each wait has a promise of its own, and whoever waits takes it back, always: a promise that many
 * waits share and that rarely settles keeps the reactions of all of them, which is memory for each
 * wait that ended by something else.
 */
import { onAbort } from '../../abort-followers.js';
import type { Client } from '../../api/client.js';
import { WaitTimeoutError } from './errors.js';
import { unlessAborted, type WaitOptions, WaitScope } from './wait-scope.js';

/** One wait for the next change. */
export interface NextChange {
  readonly happens: Promise<void>;
  /** Idempotent; the promise stays pending if there was no change yet. */
  forget(): void;
}

export class Changes {
  readonly #waiters = new Set<() => void>();

  /** Of the first change after the call. */
  next(): NextChange {
    let onChange = () => {};
    const happens = new Promise<void>((resolve) => {
      onChange = resolve;
    });
    this.#waiters.add(onChange);
    return { happens, forget: () => void this.#waiters.delete(onChange) };
  }

  /** Resolves at the next change; rejects with the signal's reason when it is aborted before. */
  async wait(signal: AbortSignal): Promise<void> {
    const next = this.next();
    try {
      await unlessAborted(next.happens, signal);
    } finally {
      next.forget();
    }
  }

  /** Waits that were neither answered nor taken back. */
  get waiterCount(): number {
    return this.#waiters.size;
  }

  notify(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const onChange of waiters) onChange();
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
