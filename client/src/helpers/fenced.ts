/**
 * Fenced transactions: a multi that commits only if a lease is still valid. The server checks that
 * atomically with the commit, so even a process that is paused for an hour between reading
 * `lease.held` and writing can do no harm.
 *
 * The protocol's check compares paths and data versions, but not czxids, so it cannot tell a znode
 * from a later one at the same path. It is safe if the name is never reused, which a GUID in it
 * guarantees (a sequence number does not, because it restarts when the parent is created again). A
 * lease whose znode has a fixed name supplies its own guards (`Lease.guards`), such as the version
 * of a counter that each holder increments when it acquires the lease. In either case the
 * transaction belongs to the lease's session, and the server refuses it once that has expired. A
 * lease with a fixed name and without guards is therefore unsafe only if somebody else deletes its
 * znode. Called by `client.fenced()`; never retries.
 */
import {
  BadVersionError,
  InvalidStateError,
  NoNodeError,
  SessionExpiredError,
} from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { ClientClosedError, LeaseLostError, TransactionError } from '../api/errors.js';
import type { Lease, LeaseGuard } from '../api/lease.js';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type { OperationOptions } from '../api/values.js';

export interface FencedTransaction {
  readonly lease: Lease;
  readonly ops: readonly TransactionOp[];
  /** Prepended to `lease.path`, unless the lease has guards. */
  readonly prefix: string;
}

/**
 * Resolves with the results of `ops`, without those of the checks. `client` is the one without any
 * prefix, so the paths of `ops` and guards are the server's. Rejects with LeaseLostError if a check
 * failed or the lease's session is over; with the signal's reason, without sending anything, if the
 * lease is known to be over; with TransactionError, whose indexes refer to `ops`, if an operation
 * failed.
 */
export async function fenced(
  client: Pick<Client, 'multi'>,
  { lease, ops, prefix }: FencedTransaction,
  options: OperationOptions = {},
): Promise<TransactionResult[]> {
  lease.signal.throwIfAborted();
  if (options.session !== undefined && options.session !== lease.sessionId) {
    throw new InvalidStateError(lease.path);
  }
  const guards = lease.guards ?? [{ path: `${prefix}${lease.path}`, version: -1 }];
  const checks = guards.map(({ path, version }) => ({ kind: 'check', path, version }) as const);
  try {
    const within = { ...options, session: lease.sessionId };
    const results = await client.multi([...checks, ...ops], within);
    return results.slice(guards.length);
  } catch (error) {
    throw errorOf(error, lease, guards);
  }
}

function errorOf(error: unknown, lease: Lease, guards: readonly LeaseGuard[]): unknown {
  if (error instanceof SessionExpiredError && !error.ambiguous) {
    return new LeaseLostError('expired', lease.path, { cause: error });
  }
  if (error instanceof ClientClosedError && !error.ambiguous) {
    return new LeaseLostError('closed', lease.path, { cause: error });
  }
  if (!(error instanceof TransactionError)) return error;
  const count = guards.length;
  if (error.failedIndex >= count) {
    const results = error.results.slice(count).map((result) => (isError(result) ? result : null));
    return new TransactionError(error.failedIndex - count, error.error, results);
  }
  const isGone = error.error instanceof NoNodeError || error.error instanceof BadVersionError;
  // A guard that may not be read (NoAuthError) tells nothing about the lease.
  return isGone ? new LeaseLostError('deleted', lease.path, { cause: error }) : error.error;
}

function isError(result: unknown): result is Error {
  return result instanceof Error;
}
