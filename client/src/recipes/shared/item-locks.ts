/**
 * The locks of one member's share of a set: either all of them or none, with one signal.
 *
 * The signal is aborted before another member can acquire any of the locks: when the first lease is
 * lost, or at the release. Used by the set partitioner.
 */
import { setMaxListeners } from 'node:events';
import { LeaseReleasedError } from '../../api/errors.js';
import type { Lease } from '../../api/lease.js';

export class ItemLocks {
  readonly #controller = new AbortController();
  readonly #leases: readonly Lease[];
  readonly #path: string;
  #releasing: Promise<void> | null = null;

  constructor(path: string, leases: readonly Lease[]) {
    this.#path = path;
    this.#leases = leases;
    setMaxListeners(0, this.#controller.signal);
    for (const { signal } of leases) {
      if (signal.aborted) this.#end(signal.reason);
      else signal.addEventListener('abort', () => this.#end(signal.reason), { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects only if the server refuses a deletion. Calling it again has no effect. */
  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  #end(reason: unknown): void {
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  async #release(): Promise<void> {
    this.#end(new LeaseReleasedError(this.#path));
    await Promise.all(this.#leases.map((lease) => lease.release()));
  }
}

/**
 * Resolves with all leases. If one cannot be acquired, releases the others and rejects with its
 * error.
 */
export async function allOrNone(acquires: readonly Promise<Lease>[]): Promise<Lease[]> {
  const settled = await Promise.allSettled(acquires);
  const leases = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed === undefined) return leases;
  await Promise.allSettled(leases.map((lease) => lease.release()));
  throw failed.reason;
}
