/**
 * A step of a mirror between its two ends: repeated while connections come and go, or refused.
 */

import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  ClientError,
  KeeperError,
  RequestTooLargeError,
  SessionExpiredError,
  TransactionError,
} from '@rookery/client';
import type { OwnAccess } from '../znodes/own-access.js';

/** The two ends of a mirror: views in which the mirrored subtree is `/`. */
export interface Ends {
  readonly source: Client;
  readonly target: Client;
}

/** With what the mirror may do at the target; its paths are those of the whole ensemble. */
export interface WritableEnds extends Ends {
  readonly access: OwnAccess;
}

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 5000;

/**
 * Repeats a step of a mirror until it is answered, because connections and sessions of either end
 * may be lost meanwhile. A step may have taken effect when it is repeated.
 *
 * Rejects with errors that do not pass by themselves, and with the reason of the signal.
 */
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

/** A step of a mirror that one of the ends refused, reported with the path and the reason. */
export class RefusedStep extends Error {
  override readonly name = 'RefusedStep';

  /** `step` is what was to be done and where, such as `create at the target`. */
  constructor(step: string, reason: string, cause?: unknown) {
    super(`${step}: ${reason}`, { cause });
  }
}

/** Runs a step; what an end answers about its znode becomes a RefusedStep. */
export async function refusable<T>(step: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isFinal(error) ? new RefusedStep(step, error.message, error) : error;
  }
}

/**
 * Returns true if the request for this znode was refused, so that repeating it does not help.
 * Connection errors and programming errors return false.
 */
export function isFinal(error: unknown): error is Error {
  if (error instanceof RequestTooLargeError) return true;
  if (error instanceof TransactionError) return isFinal(error.error);
  return (
    error instanceof KeeperError && !error.retryable && !(error instanceof SessionExpiredError)
  );
}
