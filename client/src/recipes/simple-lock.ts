/**
 * SimpleLock: an exclusive lock on one znode. It is for few contenders: each release wakes all
 * waiters, and they are admitted in no particular order. Use Lock for more than a handful.
 *
 * **Guarantee.** At most one lease has an unaborted signal at a time, provided that processes do
 * not stand still and clocks run at nearly the same rate, and `fencingToken` strictly increases
 * from holder to holder. It is not reentrant.
 *
 * **Znodes.** `<path>` itself, ephemeral, whose data is the GUID of the acquire, a line feed, and
 * `data`. Its parents are created as containers.
 *
 * With its lease, `client.fenced` checks whether a znode exists at the path, in the session of the
 * lease. That could be the znode of another holder only if somebody deleted ours and the event has
 * not arrived yet.
 *
 * **Suspended, lost.** The same as for Lock.
 */
import { NodeExistsError, nameOf, parentOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Lease } from '../api/lease.js';
import type { LockOptions } from './lock.js';
import { abandonContender, type Contender, createContender } from './shared/contender.js';
import { localAddress } from './shared/curator.js';
import { LeaseHolder } from './shared/lease-holder.js';
import type { Within } from './shared/persist.js';
import { waitUntilGone } from './shared/predecessor.js';
import { type Acquirable, type RunOptions, runWithLease } from './shared/run.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { acquiring } from './shared/waiting-line.js';

export type SimpleLockOptions = Omit<LockOptions, 'naming'>;

export class SimpleLock implements Acquirable {
  readonly path: string;
  readonly #client: Client;
  readonly #options: SimpleLockOptions;

  constructor(client: Client, path: string, options: SimpleLockOptions = {}) {
    this.path = path;
    this.#client = client;
    this.#options = options;
  }

  /** Waits for the lock. Rejects with the errors of Lock.acquire. */
  async acquire(options: WaitOptions = {}): Promise<Lease> {
    const { onSessionLost } = this.#options;
    return await acquiring(
      this.#client,
      this.path,
      { ...options, onSessionLost },
      async (within) => {
        for (;;) {
          const lease = await this.#attempt(within);
          if (lease !== null) return lease;
          await waitUntilGone(this.#client, this.path, within);
        }
      },
    );
  }

  /**
   * Resolves with a lease if nobody holds the lock, otherwise with null. It waits only for the
   * server.
   */
  async tryAcquire(options: WaitOptions = {}): Promise<Lease | null> {
    const { onSessionLost } = this.#options;
    return await acquiring(this.#client, this.path, { ...options, onSessionLost }, (within) =>
      this.#attempt(within),
    );
  }

  /** Runs the function with the lock and releases it, however the function ends. */
  async run<T>(
    fn: (lease: Lease) => T | PromiseLike<T>,
    options: WaitOptions & RunOptions = {},
  ): Promise<T> {
    return await runWithLease(await this.acquire(options), fn, options);
  }

  async #attempt(within: Within): Promise<LeaseHolder | null> {
    const contender = await this.#create(within);
    if (contender === null) return null;
    let lease: LeaseHolder | null = null;
    try {
      const { onSuspended } = this.#options;
      lease = await LeaseHolder.begin(this.#client, contender, within, { onSuspended });
      return lease;
    } finally {
      if (lease === null) abandonContender(this.#client, contender);
    }
  }

  /** Null if somebody holds the lock. */
  async #create(within: Within): Promise<Contender | null> {
    const { data, acl } = this.#options;
    const token = this.#client.surroundings.uuid();
    const text = Buffer.from(data === undefined ? localAddress() : (data ?? ''));
    const plan = {
      parent: parentOf(this.path),
      prefix: nameOf(this.path),
      mode: 'ephemeral' as const,
      token,
      data: Buffer.concat([Buffer.from(`${token}\n`), text]),
      acl,
    };
    try {
      return await createContender(this.#client, plan, within);
    } catch (error) {
      if (error instanceof NodeExistsError) return null;
      throw error;
    }
  }
}
