/**
 * MultiLock: several locks as one. Either all are acquired or none.
 *
 * **Guarantee.** The lease begins when all locks are held, and is lost as soon as one of them is.
 * An acquire that fails releases the locks that it had. Locks are acquired in the order of their
 * paths, whatever the given order, so two multi-locks cannot wait for each other.
 *
 * **Znodes.** Those of its locks. The lease's `path`, `sessionId` and `fencingToken` are those of
 * the lock with the last path; `leases` has all of them, in the order of their paths.
 * `client.fenced` checks all.
 *
 * **Suspended, lost.** As for each of its locks. If one lease is lost, the acquire fails or the
 * common lease is lost, and the others are released.
 */
import { setMaxListeners } from 'node:events';
import type { Client } from '../api/client.js';
import { LeaseReleasedError, OptionError } from '../api/errors.js';
import type { Lease, LeaseGuard } from '../api/lease.js';
import { onAbort } from '../calls/abort-followers.js';
import { LockTimeoutError } from './shared/errors.js';
import { type Acquirable, type RunOptions, runWithLease } from './shared/run.js';
import { type WaitOptions, WaitScope } from './shared/wait-scope.js';

export interface MultiLease extends Lease {
  readonly leases: readonly Lease[];
}

export class MultiLock implements Acquirable {
  readonly path: string;
  readonly #client: Client;
  readonly #locks: readonly Acquirable[];

  /** Throws OptionError if there is no lock, or if two have the same path. */
  constructor(client: Client, locks: readonly Acquirable[]) {
    const sorted = [...locks].sort((left, right) => (left.path < right.path ? -1 : 1));
    const last = sorted.at(-1);
    if (last === undefined) throw new OptionError('locks', 'must name at least one lock');
    const twice = sorted.find(({ path }, index) => path === sorted[index - 1]?.path);
    if (twice !== undefined) {
      // The second would wait for the first, which is released only after the second was acquired.
      throw new OptionError('locks', `must differ in their paths, has ${twice.path} twice`);
    }
    this.path = last.path;
    this.#client = client;
    this.#locks = sorted;
  }

  /**
   * Waits for all of them; the timeout is for all together. Rejects with the errors of
   * Lock.acquire.
   */
  async acquire(options: WaitOptions = {}): Promise<MultiLease> {
    const timeoutError = () => new LockTimeoutError(this.path, options.timeoutMs ?? 0);
    const scope = WaitScope.open(this.#client, options, timeoutError);
    const taken: Lease[] = [];
    try {
      for (const lock of this.#locks) {
        const lease = await lock.acquire({ signal: scope.signal });
        taken.push(lease);
        scope.follow(lease.signal);
      }
      scope.signal.throwIfAborted();
      return new LeaseOfAll(taken);
    } catch (error) {
      releaseAll(taken).catch(ignoreRefusal);
      throw scope.errorOf(error);
    } finally {
      scope.close();
    }
  }

  /** Runs the function with all locks and releases them, however the function ends. */
  async run<T>(
    fn: (lease: MultiLease) => T | PromiseLike<T>,
    options: WaitOptions & RunOptions = {},
  ): Promise<T> {
    const lease = await this.acquire(options);
    return await runWithLease(lease, () => fn(lease), options);
  }
}

class LeaseOfAll implements MultiLease {
  readonly path: string;
  readonly sessionId: bigint;
  readonly fencingToken: bigint;
  readonly leases: readonly Lease[];
  readonly guards: readonly LeaseGuard[];
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #releasing: Promise<void> | null = null;

  constructor(leases: readonly Lease[]) {
    const last = leases.at(-1);
    if (last === undefined) throw new OptionError('leases', 'must be at least one');
    this.leases = leases;
    this.guards = leases.flatMap(({ guards = [] }) => guards);
    this.path = last.path;
    this.sessionId = last.sessionId;
    this.fencingToken = last.fencingToken;
    setMaxListeners(0, this.#controller.signal);
    for (const { signal } of leases) {
      const end = () => void this.#end(signal.reason).catch(ignoreRefusal);
      this.#undo.push(onAbort(signal, end));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get held(): boolean {
    return !this.#controller.signal.aborted;
  }

  /** Releases in reverse order. Rejects with the first error after all were tried. */
  release(): Promise<void> {
    return this.#end(new LeaseReleasedError(this.path));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #end(reason: unknown): Promise<void> {
    if (this.#releasing === null) {
      for (const undo of this.#undo.splice(0)) undo();
      this.#controller.abort(reason);
      this.#releasing = releaseAll(this.leases);
    }
    return this.#releasing;
  }
}

/**
 * All requests are sent at once, the last lock first. An error of one does not prevent the others.
 */
async function releaseAll(leases: readonly Lease[]): Promise<void> {
  const released = leases.toReversed().map((lease) => lease.release());
  for (const result of await Promise.allSettled(released)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

function ignoreRefusal(): void {
  // The holder of the lease learns of it from release(), which returns the same promise.
}
