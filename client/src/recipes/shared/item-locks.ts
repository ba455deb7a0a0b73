/**
 * The locks of one member's share of a set: all of them or none, and one signal for all.
 *
 * The signal is aborted before the first of the locks can be anybody else's: with the first lease
 * that is lost, or at the release. Used by the set partitioner.
 */
import { setMaxListeners } from 'node:events';
import type { Lease } from '../../api/lease.js';
import { LeaseReleasedError } from '../../errors.js';

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

  /** Idempotent; rejects only when the server refuses a deletion. */
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

/** All leases; when one cannot be had, those that were are released and its error is thrown. */
export async function allOrNone(acquires: readonly Promise<Lease>[]): Promise<Lease[]> {
  const settled = await Promise.allSettled(acquires);
  const leases = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed === undefined) return leases;
  await Promise.allSettled(leases.map((lease) => lease.release()));
  throw failed.reason;
}
