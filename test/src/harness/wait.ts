/**
 * Waits for something to become true, always with a hard deadline and a name for the failure.
 *
 * `until` polls at a short interval for what no event announces (a member's mode, a log line);
 * `within` bounds a promise. Neither ever replaces synchronization by letting time pass. Every
 * end-to-end test and the rest of the harness use it.
 */

const POLL_INTERVAL_MS = 20;

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Resolves with the first value of `probe` that is not undefined; a probe that throws is retried.
 */
export async function until<T>(
  what: string,
  deadlineMs: number,
  probe: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  let last: unknown = 'the probe gave nothing';
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined) return value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) {
      throw new Error(`after ${deadlineMs} ms still waiting until ${what}: ${describe(last)}`);
    }
    await tick(POLL_INTERVAL_MS);
  }
}

/** Observes `probe` for `durationMs` and throws as soon as it reports a violation. */
export async function never(
  what: string,
  durationMs: number,
  probe: () => Promise<string | undefined> | string | undefined,
): Promise<void> {
  const end = performance.now() + durationMs;
  while (performance.now() < end) {
    const violation = await probe();
    if (violation !== undefined) throw new Error(`${what} must not happen: ${violation}`);
    await tick(POLL_INTERVAL_MS);
  }
}

/** Settles like the promise, or rejects with an error that names what did not happen in time. */
export async function within<T>(what: string, deadlineMs: number, work: Promise<T>): Promise<T> {
  const late = deferred<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`${what}: nothing after ${deadlineMs} ms`)),
    deadlineMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function deferred<T>(): Deferred<T> {
  let settle: { resolve: (value: T) => void; reject: (error: Error) => void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (settle === undefined) throw new Error('a promise runs its executor at once');
  // The caller that awaits it sees the rejection; a deferred that nobody awaits must not end the
  // process.
  promise.catch(() => undefined);
  return { promise, ...settle };
}

function tick(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
