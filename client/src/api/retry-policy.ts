/**
 * Policies that decide when to try again, as plain functions. Called by retry().
 */

/**
 * Returns the delay in milliseconds before retry number `attempt` (0 is the first one), given the
 * time since the first try began; null to give up. `random` returns numbers from 0 (inclusive) to 1
 * (exclusive).
 */
export type RetryPolicy = (
  attempt: number,
  elapsedMs: number,
  random: () => number,
) => number | null;

export interface BackoffOptions {
  /** The upper bound of the first delay, in milliseconds. It doubles with each attempt. */
  readonly baseMs: number;
  /** The upper bound of all delays, in milliseconds. */
  readonly maxMs: number;
  /** The number of retries after the first try; unlimited by default. */
  readonly attemptsMax?: number | undefined;
}

/**
 * Full jitter: a random delay from 0 to a bound that doubles, so that clients that failed together
 * do not return together.
 */
export function exponentialBackoff(options: BackoffOptions): RetryPolicy {
  const { attemptsMax = Number.POSITIVE_INFINITY } = options;
  const forever = retryForever(options);
  return (attempt, elapsedMs, random) =>
    attempt < attemptsMax ? forever(attempt, elapsedMs, random) : null;
}

/**
 * The delays of a policy, but none that would end more than `elapsedMaxMs` after the first try
 * began.
 */
export function retryUntilElapsed(policy: RetryPolicy, elapsedMaxMs: number): RetryPolicy {
  return (attempt, elapsedMs, random) => {
    const delayMs = policy(attempt, elapsedMs, random);
    return delayMs === null || elapsedMs + delayMs > elapsedMaxMs ? null : delayMs;
  };
}

/** Retries until the signal, the session or the client ends it. */
export function retryForever(
  options: Pick<BackoffOptions, 'baseMs' | 'maxMs'>,
): (attempt: number, elapsedMs: number, random: () => number) => number {
  const { baseMs, maxMs } = options;
  // Larger exponents would overflow to infinity, and the maximum is reached long before.
  return (attempt, _elapsedMs, random) =>
    random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
}

export const noRetry: RetryPolicy = () => null;
