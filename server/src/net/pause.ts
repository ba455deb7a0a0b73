/**
 * A pause that a signal ends early: for what a member waits for before it starts, such as its name
 * or room on its disk. An aborted signal ends a pause without an error; the caller asks the signal.
 */
import type { Timers } from './timers.js';

export interface Pause {
  /** Resolves after the time, or when the signal is aborted; not once it is cancelled. */
  readonly over: Promise<void>;
  cancel(): void;
}

export function pause(
  delayMs: number,
  timers: Pick<Timers, 'after'>,
  signal: AbortSignal | undefined,
): Pause {
  const stop = new AbortController();
  const over = new Promise<void>((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = timers.after(delayMs, resolve);
    stop.signal.addEventListener('abort', () => timer.cancel());
    signal?.addEventListener('abort', () => resolve(), { signal: stop.signal });
  });
  return { over, cancel: () => stop.abort() };
}
