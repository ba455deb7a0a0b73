/**
 * Errors of recipes that write: whoever gives up waiting for a write that was sent cannot say that
 * it has not taken effect, and the error must not say so either. Used by recipes whose writes stay.
 */
import { KeeperError, keeperError } from '@rookery/protocol';
import { ClientClosedError, ClientError, OperationAbortedError } from '../../errors.js';
import { WaitTimeoutError } from './errors.js';

/** The work's result; its errors say that the writes may have taken effect, where they may. */
export async function ambiguously<T>(mayHave: () => boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw mayHave() ? ambiguousOf(error) : error;
  }
}

/** An error that ends a wait, as an ambiguous one; one that is an answer as it is. */
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

/** Whether an error says that what failed may have taken effect. */
export function saysAmbiguous(error: unknown): boolean {
  return (error instanceof KeeperError || error instanceof ClientError) && error.ambiguous;
}
