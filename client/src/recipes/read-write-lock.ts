/**
 * ReadWriteLock: many readers or one writer, granted in the order of requests; both sides are
 * reentrant per holder.
 *
 * **Guarantee.** While the signal of a write lease is not aborted, nobody else has a lease of
 * either kind, provided that processes do not stand still and clocks run at nearly the same rate.
 * Nobody starves: a reader waits for the writers before it, and a writer for all before it. A write
 * lease's `fencingToken` is greater than that of every earlier lease; a reader's is unique. A
 * waiter watches one znode: a writer the one just before it, a reader the last writer before it. So
 * a writer's release wakes exactly the readers that can proceed.
 *
 * **Downgrade, no upgrade.** A holder of the write lock gets the read lock at once, on a znode that
 * takes its position in line, and may then release the write lock; `downgrade()` does both. A
 * holder of the read lock that requests the write lock would wait for itself, so it gets a
 * LockUpgradeError at once. The `holder` option says who the holder is (see Lock); a task that does
 * not set it is not protected from itself.
 *
 * **Znodes.** The same as for Curator's InterProcessReadWriteLock: `<path>` (a container) with the
 * ephemeral sequential children `_c_<uuid>-__READ__<number>` and `_c_<uuid>-__WRIT__<number>`; or
 * kazoo's `<uuid>__rlock__<number>` and `<uuid>__lock__<number>`. All four are recognized.
 *
 * **Suspended, lost.** The same as for Lock, for each lease.
 */

import { NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { LeaseLostError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import type { OperationOptions } from '../api/values.js';
import { checkCallOptions } from '../calls/call-options.js';
import type { AcquireOptions, LockOptions } from './lock.js';
import { type Contestant, contestantsIn } from './shared/contestants.js';
import {
  CuratorName,
  curatorPrefix,
  KazooName,
  kazooPrefix,
  localAddress,
} from './shared/curator.js';
import { LockUpgradeError } from './shared/errors.js';
import { Holders } from './shared/holders.js';
import type { LeaseHolder } from './shared/lease-holder.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { type Acquirable, type RunOptions, runWithLease } from './shared/run.js';
import { compareSequences, formatSequence, type Place, placeOf } from './shared/sequence.js';
import { unlessAborted } from './shared/wait-scope.js';
import { acquiring, type Line, leaseInLine, nextBefore } from './shared/waiting-line.js';

const WRITERS = [CuratorName.write, KazooName.lock] as const;
const READERS = [CuratorName.read, KazooName.readLock] as const;
/** A reader with the number of a writer comes after it, because that writer created it. */
const MARKERS = [...WRITERS, ...READERS];
type Marker = (typeof MARKERS)[number];

/** One side of the lock. */
export interface LockSide extends Acquirable {
  acquire(options?: AcquireOptions): Promise<Lease>;
  run<T>(
    fn: (lease: Lease) => T | PromiseLike<T>,
    options?: AcquireOptions & RunOptions,
  ): Promise<T>;
}

export class ReadWriteLock {
  readonly path: string;
  readonly read: LockSide;
  readonly write: LockSide;
  readonly #client: Client;
  readonly #options: LockOptions;
  readonly #readers: Holders;
  readonly #writers: Holders;

  constructor(client: Client, path: string, options: LockOptions = {}) {
    this.path = path;
    this.#client = client;
    this.#options = options;
    const roots = new WeakMap<object, object>();
    this.#readers = new Holders(roots);
    this.#writers = new Holders(roots);
    this.read = side(path, (given) => this.#acquireRead(given));
    this.write = side(path, (given) => this.#acquireWrite(given));
  }

  /**
   * Exchanges a write lease for a read lease, without another writer in between. If it fails, the
   * write lease is unchanged.
   */
  async downgrade(lease: Lease, options: Omit<AcquireOptions, 'holder'> = {}): Promise<Lease> {
    const read = await this.read.acquire({ ...options, holder: lease });
    await lease.release();
    return read;
  }

  /** Reads once who is in line, of both kinds; `marker` tells which. */
  async contestants(options: OperationOptions = {}): Promise<Contestant[]> {
    return await contestantsIn(this.#client, this.path, MARKERS, options);
  }

  async #acquireWrite(options: AcquireOptions): Promise<Lease> {
    const { holder = {} } = options;
    const isReader = this.#readers.heldBy(holder) !== null;
    if (isReader && this.#writers.heldBy(holder) === null) throw new LockUpgradeError(this.path);
    return await this.#enter(this.#writers, { ...options, holder }, (within) =>
      this.#lease(this.#line('write'), within),
    );
  }

  async #acquireRead(options: AcquireOptions): Promise<Lease> {
    const { holder = {} } = options;
    return await this.#enter(this.#readers, { ...options, holder }, (within) => {
      const written = this.#writers.heldBy(holder);
      return written === null
        ? this.#lease(this.#line('read'), within)
        : this.#leaseOfWriter(written, within);
    });
  }

  async #enter(
    holders: Holders,
    options: AcquireOptions & { readonly holder: object },
    first: (within: Within) => Promise<Lease>,
  ): Promise<Lease> {
    checkCallOptions(options);
    const { holder, signal, timeoutMs } = options;
    const again = signal?.aborted === true ? null : holders.again(holder);
    if (again !== null) return again;
    const wait = { signal, timeoutMs, onSessionLost: this.#options.onSessionLost };
    return await acquiring(this.#client, this.path, wait, (within) =>
      holders.enter<never>(
        holder,
        () => first(within),
        (pending) => unlessAborted(pending, within.signal),
      ),
    );
  }

  async #lease(line: Line<Marker>, within: Within): Promise<LeaseHolder> {
    const { onSuspended } = this.#options;
    return await leaseInLine(this.#client, line, within, { onSuspended });
  }

  /**
   * The read lease of the writer, with the same number. It is safe only if the write lock's znode
   * existed until after the creation, because otherwise another writer may have come in between; so
   * that is checked.
   */
  async #leaseOfWriter(written: Lease, within: Within): Promise<LeaseHolder> {
    const place = placeOf(written.path, WRITERS);
    if (place === null || written.sessionId !== within.session.id) {
      throw new SessionExpiredError(written.path);
    }
    const number = formatSequence(place.sequence);
    const line = this.#line('read');
    const lease = await this.#lease(
      { ...line, mode: 'ephemeral', prefix: (uuid) => line.prefix(uuid) + number },
      within,
    );
    try {
      if (await this.#stands(written, within)) return lease;
      throw new LeaseLostError('deleted', written.path);
    } catch (error) {
      lease.release().catch(() => {}); // the caller gets the original error
      throw error;
    }
  }

  async #stands(lease: Lease, within: Within): Promise<boolean> {
    try {
      const node = await persist(this.#client, within, () =>
        this.#client.getData(lease.path, bounds(within)),
      );
      return node.stat.czxid === lease.fencingToken;
    } catch (error) {
      if (error instanceof NoNodeError) return false;
      throw error;
    }
  }

  #line(kind: 'read' | 'write'): Line<Marker> {
    const [ofCurator, ofKazoo] = kind === 'read' ? READERS : WRITERS;
    const { naming, data, acl } = this.#options;
    return {
      directory: this.path,
      markers: MARKERS,
      prefix: (uuid) =>
        naming === 'kazoo' ? kazooPrefix(uuid, ofKazoo) : curatorPrefix(uuid, ofCurator),
      data: data === undefined ? localAddress() : data,
      acl,
      blocker: kind === 'read' ? lastWriterBefore : nextBefore,
    };
  }
}

function side(path: string, acquire: (options: AcquireOptions) => Promise<Lease>): LockSide {
  return {
    path,
    acquire: (options = {}) => acquire(options),
    run: async (fn, options = {}) => await runWithLease(await acquire(options), fn, options),
  };
}

/**
 * Only writers with a lower number count (kazoo #649), never the writer whose number the reader has
 * taken over.
 */
function lastWriterBefore(
  line: readonly Place<Marker>[],
  own: Place<Marker>,
): Place<Marker> | null {
  const isBefore = ({ marker, sequence }: Place<Marker>) =>
    isWriter(marker) && compareSequences(sequence, own.sequence) < 0;
  return line.findLast(isBefore) ?? null;
}

function isWriter(marker: Marker): boolean {
  return WRITERS.some((writer) => writer === marker);
}
