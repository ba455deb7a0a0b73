/**
 * Repeats a step of a mirror until it is answered, because connections and sessions of either end
 * may be lost meanwhile. A step may have taken effect when it is repeated.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ClientError, KeeperError, SessionExpiredError } from '@rookery/client';
import type { Ends } from './ends.js';

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 5000;

/** Rejects with errors that do not pass by themselves, and with the reason of the signal. */
export async function persistently<T>(
  { source, target }: Ends,
  signal: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    signal.throwIfAborted();
    try {
      return await step();
    } catch (error) {
      if (!passes(error)) throw error;
      await delay(pauseMs, undefined, { signal });
      await Promise.all(
        [source, target].map((client) => client.connected({ timeoutMs: 0, signal })),
      );
    }
  }
}

function passes(error: unknown): boolean {
  if (error instanceof SessionExpiredError) return true;
  return (error instanceof ClientError || error instanceof KeeperError) && error.retryable;
}
