/**
 * The errors of recipes that write. A caller that stops waiting for a write that was sent does not
 * know whether it has taken effect, and its error must not claim that it has not. Used by recipes
 * whose writes are persistent.
 */
import { KeeperError, keeperError } from '@rookery/protocol';
import { ClientClosedError, ClientError, OperationAbortedError } from '../../api/errors.js';
import { WaitTimeoutError } from './errors.js';

/**
 * Resolves with the result of the work. Its errors are `ambiguous` if the writes may have taken
 * effect.
 */
export async function ambiguously<T>(mayHave: () => boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw mayHave() ? ambiguousOf(error) : error;
  }
}

/**
 * Returns an error that ends a wait as an ambiguous one; an error that is an answer of the server
 * is returned unchanged.
 */
export function ambiguousOf(error: unknown, of?: string): unknown {
  if (error instanceof OperationAbortedError) {
    const path = error.path ?? of;
    const given = path === undefined ? {} : { path };
    return new OperationAbortedError(error.cause, { ambiguous: true, ...given });
  }
  if (error instanceof WaitTimeoutError) {
    return new WaitTimeoutError(error.path, error.timeoutMs, { ambiguous: true });
  }
  if (error instanceof ClientClosedError) {
    return new ClientClosedError({ ambiguous: true, cause: error });
  }
  if (error instanceof KeeperError && (error.retryable || error.name === 'SessionExpiredError')) {
    return keeperError(error.code, error.path ?? of, { ambiguous: true, cause: error });
  }
  return error;
}

/** Whether an error says that the failed operation may have taken effect. */
export function saysAmbiguous(error: unknown): boolean {
  return (error instanceof KeeperError || error instanceof ClientError) && error.ambiguous;
}
