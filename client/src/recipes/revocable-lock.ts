/**
 * RevocableLock: a Lock whose holder can be asked to give it back, and decides itself.
 *
 * **Guarantee.** The same as for Lock. A request reaches the holder once; if the holder consents,
 * its leases' signals are aborted ('revoked') and then the znode is deleted. Nothing is taken by
 * force.
 *
 * **Znodes.** The same as for Lock, with Curator's names. A request writes `__REVOKE__` into the
 * holder's znode, as Curator's Revoker does, so that either library can ask the other. The
 * requester must be permitted to write there. A waiter may be asked too, and learns of it when it
 * gets the lock.
 *
 * **Suspended, lost.** The same as for Lock; a request made meanwhile arrives after the reconnect.
 */
import { NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Lease } from '../api/lease.js';
import type { OperationOptions } from '../api/values.js';
import { Lock, type LockOptions } from './lock.js';
import { REVOKE_MESSAGE } from './shared/curator.js';
import type { LeaseHolder } from './shared/lease-holder.js';

/** 'consent' gives the lock back at once; 'refuse' keeps it, and the request is forgotten. */
export type RevocationAnswer = 'consent' | 'refuse';

export interface RevocableLockOptions extends LockOptions {
  /**
   * Called with the lease that is requested. A holder with unfinished work can complete it first
   * and then return 'consent', or release the lease. An exception is reported as uncaught and
   * counts as 'refuse'.
   */
  readonly onRevocationRequested: (lease: Lease) => RevocationAnswer | Promise<RevocationAnswer>;
}

export class RevocableLock extends Lock {
  constructor(client: Client, path: string, options: RevocableLockOptions) {
    const { onRevocationRequested, ...lockOptions } = options;
    super(client, path, lockOptions, {
      onData: (data, lease) => {
        if (data?.toString() === REVOKE_MESSAGE) void answer(lease, onRevocationRequested);
      },
    });
  }
}

/**
 * Asks the holder (or waiter) that owns the znode; see `Lock.contestants()`. Resolves with false if
 * the znode is already gone. If the holder consents, the znode disappears.
 */
export async function requestRevocation(
  client: Client,
  znodePath: string,
  options: OperationOptions = {},
): Promise<boolean> {
  try {
    await client.setData(znodePath, REVOKE_MESSAGE, options);
    return true;
  } catch (error) {
    if (error instanceof NoNodeError) return false;
    throw error;
  }
}

async function answer(
  lease: LeaseHolder,
  onRequested: RevocableLockOptions['onRevocationRequested'],
): Promise<void> {
  try {
    if ((await onRequested(lease)) === 'consent') lease.revoke();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
