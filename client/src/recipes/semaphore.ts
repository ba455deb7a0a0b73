/**
 * Semaphore: a limited number of leases, granted in the order of requests.
 *
 * **Guarantee.** At most `maxLeases` leases have unaborted signals at a time, provided that
 * processes do not stand still, clocks run at nearly the same rate and everybody uses the same
 * maximum. A request for several leases gets all or none, so two such requests cannot block each
 * other with half of theirs. Each lease's `fencingToken` is unique. An acquire that fails leaves no
 * znode. Lowering a shared maximum takes no lease away.
 *
 * **Znodes.** The same as for Curator's InterProcessSemaphoreV2, in containers. `<path>/locks` is a
 * Lock that is held while acquiring, so that only one client waits for leases. `<path>/leases` has
 * an ephemeral sequential `_c_<uuid>-lease-<number>` for each lease; a client waits while there are
 * more of them than the maximum. A shared maximum is Curator's SharedCount: a znode of 4 bytes,
 * big-endian.
 *
 * **Suspended, lost.** The same as for Lock, for each lease.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { type Contestant, contestantsIn } from './shared/contestants.js';
import { CuratorName, curatorPrefix, localAddress } from './shared/curator.js';
import { LeaseCount, type SharedMaximum } from './shared/lease-count.js';
import { type LeaseSpace, takeLeases } from './shared/lease-space.js';
import { type Acquirable, type RunOptions, runWithLease } from './shared/run.js';
import type { WaitOptions } from './shared/wait-scope.js';
import {
  acquiring,
  type Line,
  leaseInLine,
  nextBefore,
  type SessionLossOptions,
} from './shared/waiting-line.js';

export interface SemaphoreOptions extends SessionLossOptions {
  /** The number of leases, 1 to 2^31-1, or a znode that contains it. */
  readonly maxLeases: number | SharedMaximum;
  /** The data of a lease's znode, for people; this machine's address by default. */
  readonly data?: Data | undefined;
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export class Semaphore implements Acquirable {
  readonly path: string;
  readonly #client: Client;
  readonly #options: SemaphoreOptions;
  readonly #gate: Line;
  readonly #space: LeaseSpace;

  constructor(client: Client, path: string, options: SemaphoreOptions) {
    const data = options.data === undefined ? localAddress() : options.data;
    const { acl } = options;
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#gate = {
      directory: joinPath(path, CuratorName.locksDirectory),
      markers: [CuratorName.lock],
      prefix: (uuid) => curatorPrefix(uuid, CuratorName.lock),
      data,
      acl,
      blocker: nextBefore,
    };
    const directory = joinPath(path, CuratorName.leasesDirectory);
    const count = new LeaseCount(client, options.maxLeases);
    this.#space = { directory, data, acl, count, onSuspended: options.onSuspended };
  }

  /** Waits for one lease. Rejects with the errors of Lock.acquire. */
  async acquire(options: WaitOptions = {}): Promise<Lease> {
    const [lease] = await this.acquireMany(1, options);
    if (lease === undefined) throw new OptionError('count', 'must be at least 1');
    return lease;
  }

  /**
   * Waits for `count` leases, each of which is released separately. Rejects with OptionError if a
   * fixed maximum is less than that; with a shared maximum it waits until that is large enough.
   */
  async acquireMany(count: number, options: WaitOptions = {}): Promise<Lease[]> {
    this.#space.count.check(count);
    const wait = { ...options, onSessionLost: this.#options.onSessionLost };
    return await acquiring(this.#client, this.path, wait, async (within) => {
      for (;;) {
        const gate = await leaseInLine(this.#client, this.#gate, within, {});
        try {
          const leases = await takeLeases(this.#client, this.#space, { count, gate, within });
          if (leases !== null) return leases;
        } finally {
          gate.release().catch(() => {}); // in the background; nobody depends on it
        }
      }
    });
  }

  /** Runs the function with one lease and releases it, however the function ends. */
  async run<T>(
    fn: (lease: Lease) => T | PromiseLike<T>,
    options: WaitOptions & RunOptions = {},
  ): Promise<T> {
    return await runWithLease(await this.acquire(options), fn, options);
  }

  /**
   * Reads the leases once. They may include those of clients that are about to get or release
   * theirs.
   */
  async holders(options: OperationOptions = {}): Promise<Contestant[]> {
    return await contestantsIn(this.#client, this.#space.directory, [CuratorName.lease], options);
  }
}
