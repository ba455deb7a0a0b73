/**
 * A member's clocks and timers, which are injected so that the simulator and tests control time.
 *
 * `nowMs` is monotonic and unrelated to the date; `wallMs` is the date and may jump. A cancelled
 * timer never fires. No callback runs inside a call of these methods.
 */

export interface Timer {
  cancel(): void;
}

/** Whatever calls back later. */
export interface Delays {
  /** Runs `action` once, `delayMs` from now. */
  after(delayMs: number, action: () => void): Timer;
}

export interface Clock {
  /** Monotonic milliseconds, with fractions. */
  nowMs(): number;
}

export interface Timers extends Clock, Delays {
  /** Milliseconds since 1970. */
  wallMs(): number;
  /**
   * Runs `action` once the events that are ready have been handled, in the order of the calls, as
   * setImmediate does. Called from a deferred action, it waits for one more iteration of the event
   * loop, and so for the sockets to be polled again.
   */
  defer(action: () => void): void;
}

/** The timers of this process. */
export function systemTimers(): Timers {
  return {
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    after: (delayMs, action) => {
      const handle = setTimeout(action, delayMs);
      return { cancel: () => clearTimeout(handle) };
    },
    defer: (action) => {
      setImmediate(action);
    },
  };
}

interface Pause {
  /** Resolves after the time, or when the signal is aborted; not once it is cancelled. */
  readonly over: Promise<void>;
  cancel(): void;
}

/**
 * A pause that a signal can end early. A member waits this way before it starts, for example for
 * its name or for room on its disk. An aborted signal ends the pause without an error; the caller
 * checks the signal.
 */
export function pause(delayMs: number, timers: Delays, signal: AbortSignal | undefined): Pause {
  const stop = new AbortController();
  const over = new Promise<void>((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = timers.after(delayMs, resolve);
    stop.signal.addEventListener('abort', () => timer.cancel());
    signal?.addEventListener('abort', () => resolve(), { signal: stop.signal });
  });
  return { over, cancel: () => stop.abort() };
}
