/**
 * Whether something may have been done of which we have not heard: kept while it is tried, and told
 * by the error if the wait ends before it is known. An error that is not `ambiguous` is a promise
 * that nothing was done. Used by the queues and the two-phase commit.
 */
import type { Client } from '../../api/client.js';
import { ambiguousOf } from './ambiguous.js';
import { WaitTimeoutError } from './errors.js';
import { isAmbiguous, persist, type Within } from './persist.js';
import type { WaitOptions } from './wait-scope.js';
import { inSession } from './waiting.js';

export interface Doubt {
  mayBeDone: boolean;
}

/** Runs it in the client's session; an error after which it may be done all the same says so. */
export async function asDoubtful<T>(
  client: Client,
  path: string,
  options: WaitOptions & { readonly onSessionLost?: 'fail' | 'rejoin' | undefined },
  attempt: (within: Within, doubt: Doubt) => Promise<T>,
): Promise<T> {
  const doubt: Doubt = { mayBeDone: false };
  const timeoutError = () => new WaitTimeoutError(path, options.timeoutMs ?? 0);
  try {
    return await inSession(client, { ...options, timeoutError }, (within) =>
      attempt(within, doubt),
    );
  } catch (error) {
    throw withDoubt(error, doubt, path);
  }
}

/** As persist(), for what writes and may be done twice. */
export async function persistWrite<T>(
  client: Client,
  within: Within,
  doubt: Doubt,
  operation: () => Promise<T>,
): Promise<T> {
  const result = await persist(client, within, async () => {
    try {
      return await operation();
    } catch (error) {
      if (isAmbiguous(error)) doubt.mayBeDone = true;
      throw error;
    }
  });
  doubt.mayBeDone = false;
  return result;
}

/** The error that the caller shall see: one that says that it may be done, if it may. */
export function withDoubt(error: unknown, doubt: Doubt, path: string): unknown {
  return doubt.mayBeDone ? ambiguousOf(error, path) : error;
}
