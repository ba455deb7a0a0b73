/**
 * Fenced transactions: a multi that is committed only if a lease still stands, which the server
 * decides in the same instant, so that not even a process that was stopped for an hour between
 * looking at `lease.held` and writing can do harm.
 *
 * The protocol's check knows paths and data versions, not czxids: of a znode that was deleted and
 * created again it would see the other's. What makes it safe is a name that never comes back, as a
 * GUID in it guarantees (a sequence number alone does not: it begins anew with its parent). A lease
 * whose znode has a fixed name brings guards of its own (`Lease.guards`), such as the version of a
 * counter that everybody raises in the transaction that takes the lease. Either way the transaction
 * is of the lease's own session, which the server refuses once it has expired: without guards of
 * its own a fixed name is in danger only where others delete it by force. Called by
 * `client.fenced()`; never retries.
 */
import {
  BadVersionError,
  InvalidStateError,
  NoNodeError,
  SessionExpiredError,
} from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Lease, LeaseGuard } from '../api/lease.js';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type { OperationOptions } from '../api/values.js';
import { ClientClosedError, LeaseLostError, TransactionError } from '../errors.js';

export interface FencedTransaction {
  readonly lease: Lease;
  readonly ops: readonly TransactionOp[];
  /** Where `lease.path` is seen from: added in front of it, unless the lease has guards. */
  readonly prefix: string;
}

/**
 * The results of `ops`, those of the checks left out. `client` is the one without any prefix: paths
 * of `ops` and guards are the server's. LeaseLostError when a check failed or the lease's session
 * is over; the signal's reason, unsent, when the lease is known to be over; TransactionError, with
 * indexes into `ops`, when an operation failed.
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
  // A guard that may not be read (NoAuthError) says nothing about the lease.
  return isGone ? new LeaseLostError('deleted', lease.path, { cause: error }) : error.error;
}

function isError(result: unknown): result is Error {
  return result instanceof Error;
}
