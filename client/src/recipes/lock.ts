/**
 * Lock: an exclusive lock, given in the order of asking, reentrant per holder.
 *
 * **Guarantee.** At most one lease with an unaborted signal at a time, as long as clocks run at
 * nearly the same rate; `fencingToken` grows strictly from holder to holder. A waiter watches only
 * the one before it, so a release wakes one. An acquire that fails, for whatever reason, leaves no
 * znode: what may exist is deleted in the background.
 *
 * **Znodes.** `<path>` (a container) with one ephemeral sequential child for each contender:
 * `_c_<uuid>-lock-<number>`, Curator's InterProcessMutex, data its address; or, with
 * `naming: 'kazoo'`, `<uuid>__lock__<number>`, data an identifier. The lowest number holds.
 * Children of both names are seen, whichever is used. kazoo's Lock sees Curator's names when it is
 * given `extra_lock_patterns=["lock-"]`; Curator sees none but its own.
 *
 * **Suspended.** The lease stands (`onSuspended: 'hold-until-lost'`) until the session is lost,
 * which is told before the server can give the lock to another; or is lost at once (`'abort'`).
 * Waiting goes on. **Lost.** The lease is lost ('expired'). A wait fails with SessionExpiredError,
 * or goes to the end of the line in the next session (`onSessionLost: 'rejoin'`).
 */

import type { Client } from '../api/client.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { checkCallOptions } from '../call-options.js';
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
  /** Whose names to use; Curator's by default. */
  readonly naming?: 'curator' | 'kazoo' | undefined;
  /** Data of this contender's znode, for people; this machine's address by default. */
  readonly data?: Data | undefined;
  /** Of the znodes; open by default. Whoever contends must be permitted to read them. */
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export interface AcquireOptions extends WaitOptions {
  /**
   * Who acquires: any object, or a lease of this lock. A holder that has the lock gets a further
   * lease on it at once. Without it every acquire stands in line for itself, so that two tasks of
   * one process exclude each other.
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
  /** @internal For locks that are told of more. */
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
   * Waits for the lock. LockTimeoutError, OperationAbortedError (at once), SessionExpiredError,
   * ClientClosedError, or the server's answer, such as NoAuthError; trouble with the connection is
   * waited out.
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    return await this.#enter<never>(options, (within) =>
      leaseInLine(this.#client, this.#line, within, this.#terms),
    );
  }

  /** The lock if nobody has it or waits for it, null otherwise; waits for the server only. */
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

  /** Those in line as of one reading; the first one holds the lock, or is about to. */
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
