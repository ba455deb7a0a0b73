/**
 * Lock: an exclusive lock, granted in the order of requests and reentrant per holder.
 *
 * **Guarantee.** At most one lease has an unaborted signal at a time, provided that processes do
 * not stand still and clocks run at nearly the same rate, and `fencingToken` strictly increases
 * from holder to holder. A waiter watches only the one before it, so a release wakes only one. An
 * acquire that fails for any reason leaves no znode: if one may exist, it is deleted in the
 * background.
 *
 * **Znodes.** `<path>` (a container) has one ephemeral sequential child for each contender:
 * `_c_<uuid>-lock-<number>`, as for Curator's InterProcessMutex, whose data is its address; or with
 * `naming: 'kazoo'`, `<uuid>__lock__<number>`, whose data is an identifier. The lowest number holds
 * the lock. Both kinds of names are recognized, whichever is used. kazoo's Lock recognizes
 * Curator's names if it is given `extra_lock_patterns=["lock-"]`; Curator recognizes only its own.
 *
 * **Suspended.** With `onSuspended: 'hold-until-lost'`, the lease continues until the session is
 * lost, which a process that runs reports before the server can grant the lock to another; with
 * `'abort'` it is lost at once. Waits continue. **Lost.** The lease is lost ('expired'). A wait
 * fails with SessionExpiredError, or goes to the end of the line in the next session
 * (`onSessionLost: 'rejoin'`).
 */

import type { Client } from '../api/client.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { checkCallOptions } from '../calls/call-options.js';
import { type Contestant, contestantsIn } from './shared/contestants.js';
import {
  CuratorName,
  curatorPrefix,
  KazooName,
  kazooPrefix,
  localAddress,
} from './shared/curator.js';
import { Holders } from './shared/holders.js';
import type { LeaseHolder, LeaseTerms } from './shared/lease-holder.js';
import type { Within } from './shared/persist.js';
import { type Acquirable, type RunOptions, runWithLease } from './shared/run.js';
import { unlessAborted, type WaitOptions } from './shared/wait-scope.js';
import {
  acquiring,
  type Line,
  leaseIfFirst,
  leaseInLine,
  nextBefore,
  type SessionLossOptions,
} from './shared/waiting-line.js';

export interface LockOptions extends SessionLossOptions {
  /** Whose names of znodes are used; Curator's by default. */
  readonly naming?: 'curator' | 'kazoo' | undefined;
  /** The data of this contender's znode, for people; this machine's address by default. */
  readonly data?: Data | undefined;
  /** The ACL of the znodes; OPEN_ACL by default. All contenders must be permitted to read them. */
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export interface AcquireOptions extends WaitOptions {
  /**
   * Who acquires the lock: any object, or a lease of this lock. A holder that already has the lock
   * gets another lease on it at once. Without a holder, every acquire queues on its own, so that
   * two tasks of one process exclude each other.
   */
  readonly holder?: object | undefined;
}

const MARKERS = [CuratorName.lock, KazooName.lock] as const;

export class Lock implements Acquirable {
  readonly path: string;
  readonly #client: Client;
  readonly #line: Line;
  readonly #options: LockOptions;
  readonly #terms: LeaseTerms;
  readonly #holders = new Holders();

  constructor(client: Client, path: string, options?: LockOptions);
  /** @internal For locks that receive further events. */
  constructor(client: Client, path: string, options: LockOptions, terms: LeaseTerms);
  constructor(client: Client, path: string, options: LockOptions = {}, terms: LeaseTerms = {}) {
    const isKazoo = options.naming === 'kazoo';
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#terms = { ...terms, onSuspended: options.onSuspended };
    this.#line = {
      directory: path,
      markers: MARKERS,
      prefix: (uuid) =>
        isKazoo ? kazooPrefix(uuid, KazooName.lock) : curatorPrefix(uuid, CuratorName.lock),
      data: options.data === undefined ? localAddress() : options.data,
      acl: options.acl,
      blocker: nextBefore,
    };
  }

  /**
   * Waits for the lock. Rejects with LockTimeoutError, OperationAbortedError (at once),
   * SessionExpiredError, ClientClosedError, or an error of the server, such as NoAuthError. It
   * waits through problems of the connection.
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    return await this.#enter<never>(options, (within) =>
      leaseInLine(this.#client, this.#line, within, this.#terms),
    );
  }

  /**
   * Resolves with a lease if nobody holds the lock or waits for it, otherwise with null. It waits
   * only for the server.
   */
  async tryAcquire(options: AcquireOptions = {}): Promise<Lease | null> {
    return await this.#enter<null>(options, (within) =>
      leaseIfFirst(this.#client, this.#line, within, this.#terms),
    );
  }

  /** Runs the function with the lock and releases it, however the function ends. */
  async run<T>(
    fn: (lease: Lease) => T | PromiseLike<T>,
    options: AcquireOptions & RunOptions = {},
  ): Promise<T> {
    return await runWithLease(await this.acquire(options), fn, options);
  }

  /** Reads once who is in line. The first one holds the lock or is about to. */
  async contestants(options: OperationOptions = {}): Promise<Contestant[]> {
    return await contestantsIn(this.#client, this.path, MARKERS, options);
  }

  async #enter<Nothing extends null>(
    options: AcquireOptions,
    first: (within: Within) => Promise<LeaseHolder | Nothing>,
  ): Promise<Lease | Nothing> {
    checkCallOptions(options);
    const { holder = {}, signal, timeoutMs } = options;
    const again = signal?.aborted === true ? null : this.#holders.again(holder);
    if (again !== null) return again;
    const wait = { signal, timeoutMs, onSessionLost: this.#options.onSessionLost };
    return await acquiring(this.#client, this.path, wait, (within) =>
      this.#holders.enter<Nothing>(
        holder,
        () => first(within),
        (pending) => unlessAborted(pending, within.signal),
      ),
    );
  }
}
