/**
 * Running a function under a lease, so that nobody can forget to release it. The lease is released
 * when the function has settled, however it settled; an error of the function is never hidden by
 * one of the release. A function that has come to its end although the lease was lost on the way
 * may have worked beside the next holder: that is an error unless the caller wants it otherwise.
 * What locks have in common, for those who take several.
 */
import type { Lease } from '../../api/lease.js';
import { LeaseLostError } from '../../errors.js';
import type { WaitOptions } from './wait-scope.js';

/** What can be acquired alone: the locks, a semaphore. */
export interface Acquirable {
  readonly path: string;
  acquire(options?: WaitOptions): Promise<Lease>;
}

/** What `run()` may be told beside how long to wait. */
export interface RunOptions {
  /**
   * What becomes of the function's result when the lease was lost while it ran: 'reject' (default)
   * rejects with the LeaseLostError, 'ignore' gives the result all the same.
   */
  readonly onLost?: 'reject' | 'ignore' | undefined;
}

/** The function's result; LeaseLostError when the lease was lost before the function settled. */
export async function runWithLease<T>(
  lease: Lease,
  fn: (lease: Lease) => T | PromiseLike<T>,
  { onLost = 'reject' }: RunOptions = {},
): Promise<T> {
  let result: T;
  try {
    result = await fn(lease);
  } catch (error) {
    // The function's error is the one that counts.
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
