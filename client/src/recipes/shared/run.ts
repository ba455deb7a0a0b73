/**
 * Runs a function under a lease, so that nobody can forget to release it. The lease is released
 * when the function has settled, however it settled, and an error of the function is never hidden
 * by one of the release. If the lease was lost while the function ran, it may have run at the same
 * time as that of the next holder, which is an error unless the caller chooses otherwise. Used by
 * all locks.
 */

import { LeaseLostError } from '../../api/errors.js';
import type { Lease } from '../../api/lease.js';
import type { WaitOptions } from './wait-scope.js';

/** What can be acquired: the locks and a semaphore. */
export interface Acquirable {
  readonly path: string;
  acquire(options?: WaitOptions): Promise<Lease>;
}

/** The options of `run()` other than those of the wait. */
export interface RunOptions {
  /**
   * What happens to the function's result if the lease was lost while it ran: 'reject', the
   * default, rejects with the LeaseLostError, 'ignore' returns the result even so.
   */
  readonly onLost?: 'reject' | 'ignore' | undefined;
}

/**
 * Resolves with the function's result. Rejects with LeaseLostError if the lease was lost before the
 * function settled.
 */
export async function runWithLease<T>(
  lease: Lease,
  fn: (lease: Lease) => T | PromiseLike<T>,
  { onLost = 'reject' }: RunOptions = {},
): Promise<T> {
  let result: T;
  try {
    result = await fn(lease);
  } catch (error) {
    // The caller gets the error of the function.
    await lease.release().catch(() => {});
    throw error;
  }
  const { aborted, reason } = lease.signal;
  if (onLost === 'reject' && aborted && reason instanceof LeaseLostError) {
    await lease.release().catch(() => {});
    throw reason;
  }
  await lease.release();
  return result;
}
