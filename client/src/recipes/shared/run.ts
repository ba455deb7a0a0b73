/**
 * Running a function under a lease, so that nobody can forget to release it. The lease is released
 * when the function has settled, however it settled; an error of the function is never hidden by
 * one of the release. What locks have in common, for those who take several.
 */
import type { Lease } from '../../api/lease.js';
import type { WaitOptions } from './wait-scope.js';

/** What can be acquired alone: the locks, a semaphore. */
export interface Acquirable {
  readonly path: string;
  acquire(options?: WaitOptions): Promise<Lease>;
}

/** The function's result. Whether the lease was lost meanwhile, the function sees by its signal. */
export async function runWithLease<T>(
  lease: Lease,
  fn: (lease: Lease) => T | PromiseLike<T>,
): Promise<T> {
  let result: T;
  try {
    result = await fn(lease);
  } catch (error) {
    // The function's error is the one that counts.
    await lease.release().catch(() => {});
    throw error;
  }
  await lease.release();
  return result;
}
