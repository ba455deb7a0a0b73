/**
 * When to try again, as plain functions. Compute only; retry() asks them.
 */

/**
 * How many milliseconds to wait before retry number `attempt` (0 is the first), `elapsedMs` after
 * the first try began; null to give up. `random` gives numbers from 0 (inclusive) to 1.
 */
export type RetryPolicy = (
  attempt: number,
  elapsedMs: number,
  random: () => number,
) => number | null;

export interface BackoffOptions {
  /** Upper bound of the first delay, milliseconds; doubles with each attempt. */
  readonly baseMs: number;
  /** Upper bound of all delays, milliseconds. */
  readonly maxMs: number;
  /** Retries, after the first try; without end by default. */
  readonly attemptsMax?: number | undefined;
}

/**
 * Full jitter: any delay from 0 to a bound that doubles, so that clients that were disturbed
 * together do not come back together.
 */
export function exponentialBackoff(options: BackoffOptions): RetryPolicy {
  const { attemptsMax = Number.POSITIVE_INFINITY } = options;
  const forever = retryForever(options);
  return (attempt, elapsedMs, random) =>
    attempt < attemptsMax ? forever(attempt, elapsedMs, random) : null;
}

/** The policy's delays, but none that would end later than so long after the first try began. */
export function retryUntilElapsed(policy: RetryPolicy, elapsedMaxMs: number): RetryPolicy {
  return (attempt, elapsedMs, random) => {
    const delayMs = policy(attempt, elapsedMs, random);
    return delayMs === null || elapsedMs + delayMs > elapsedMaxMs ? null : delayMs;
  };
}

/** Without end, until the signal, the session or the client ends it. */
export function retryForever(
  options: Pick<BackoffOptions, 'baseMs' | 'maxMs'>,
): (attempt: number, elapsedMs: number, random: () => number) => number {
  const { baseMs, maxMs } = options;
  // Past 2^30 times the base every bound is reached, and powers would become infinite.
  return (attempt, _elapsedMs, random) =>
    random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
}

export const noRetry: RetryPolicy = () => null;
