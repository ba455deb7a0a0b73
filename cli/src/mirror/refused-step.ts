/** A step of a mirror that one of the ends refused, which is told with the path and the reason. */
import {
  KeeperError,
  RequestTooLargeError,
  SessionExpiredError,
  TransactionError,
} from '@rookery/client';

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
 * Whether it is an answer about this znode, rather than trouble with a connection or a mistake of
 * ours.
 */
export function isFinal(error: unknown): error is Error {
  if (error instanceof RequestTooLargeError) return true;
  if (error instanceof TransactionError) return isFinal(error.error);
  return (
    error instanceof KeeperError && !error.retryable && !(error instanceof SessionExpiredError)
  );
}
