/**
 * RevocableLock: a Lock whose holder can be asked to give it back, and decides by itself.
 *
 * **Guarantee.** As of Lock. A request is told to the holder once; when it consents, its leases'
 * signals are aborted ('revoked') and then the znode is deleted. Nothing is taken by force.
 *
 * **Znodes.** As of Lock, Curator's. A request writes `__REVOKE__` into the holder's znode, as
 * Curator's Revoker does, so that either can ask the other. Whoever asks must be permitted to write
 * there. Who waits may be asked as well; it is told when it gets the lock.
 *
 * **Suspended, lost.** As of Lock; a request made meanwhile is told when there is a connection.
 */
import { NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Lease } from '../api/lease.js';
import type { OperationOptions } from '../api/values.js';
import { Lock, type LockOptions } from './lock.js';
import { REVOKE_MESSAGE } from './shared/curator.js';
import type { LeaseHolder } from './shared/lease-holder.js';

/** 'consent' gives the lock back at once; 'refuse' keeps it, for now: the request is forgotten. */
export type RevocationAnswer = 'consent' | 'refuse';

export interface RevocableLockOptions extends LockOptions {
  /**
   * Called with the lease that is asked for. Who has work to finish does that first and then
   * answers 'consent', or releases the lease. An exception is reported as uncaught, and refuses.
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
 * Asks the holder (or waiter) whose znode it is; see `Lock.contestants()`. False when that has gone
 * already. Whether it consents shows in its going.
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
