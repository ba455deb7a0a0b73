/**
 * Records whether an operation may have been done although no reply arrived. If the wait ends
 * before that is known, the error says so. An error that is not `ambiguous` guarantees that nothing
 * was done. Used by the queues and the two-phase commit.
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

/**
 * Runs an attempt in the client's session. An error after which it may nevertheless be done is
 * marked as ambiguous.
 */
export async function withAmbiguity<T>(
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

/** Like persist(), for writes that may be done twice. */
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

/** The caller's error, which is marked as ambiguous if the operation may have been done. */
export function withDoubt(error: unknown, doubt: Doubt, path: string): unknown {
  return doubt.mayBeDone ? ambiguousOf(error, path) : error;
}
