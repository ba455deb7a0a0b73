/**
 * Makes a lock reentrant per holder. A holder is any object that the callers agree on, or an
 * earlier lease; a caller that gives no holder is a new one. The znode is kept until the last of a
 * holder's leases is released. Used by the reentrant locks.
 */
import { setMaxListeners } from 'node:events';
import { LeaseReleasedError } from '../../api/errors.js';
import type { Lease, LeaseGuard } from '../../api/lease.js';

interface Holding {
  readonly lease: Lease;
  count: number;
}

/** Maps each lease to its holder; all sides of one lock share the map. */
export type HolderRoots = WeakMap<object, object>;

export class Holders {
  readonly #roots: HolderRoots;
  readonly #holdings = new WeakMap<object, Holding>();
  readonly #pending = new WeakMap<object, Promise<void>>();

  constructor(roots: HolderRoots = new WeakMap()) {
    this.#roots = roots;
  }

  rootOf(holder: object): object {
    return this.#roots.get(holder) ?? holder;
  }

  /** Returns another lease for a holder that has one; null for any other. */
  again(holder: object): Lease | null {
    const root = this.rootOf(holder);
    const holding = this.#holdings.get(root);
    return holding?.lease.held === true ? this.#share(root, holding) : null;
  }

  /** The lease of the znode if the holder has it, else null. */
  heldBy(holder: object): Lease | null {
    const holding = this.#holdings.get(this.rootOf(holder));
    return holding?.lease.held === true ? holding.lease : null;
  }

  /**
   * Returns another lease for a holder, or acquires its first one with `acquire`. If one holder
   * makes several first requests at the same time, one of them goes to the server, and the others
   * wait for it with `until`.
   */
  async enter<Nothing extends null>(
    holder: object,
    acquire: () => Promise<Lease | Nothing>,
    until: (pending: Promise<void>) => Promise<void>,
  ): Promise<Lease | Nothing> {
    const root = this.rootOf(holder);
    for (;;) {
      const share = this.again(root);
      if (share !== null) return share;
      const pending = this.#pending.get(root);
      if (pending === undefined) return await this.#first(root, acquire);
      await until(pending);
    }
  }

  async #first<Nothing extends null>(
    root: object,
    acquire: () => Promise<Lease | Nothing>,
  ): Promise<Lease | Nothing> {
    const acquired = acquire();
    const settled = acquired.then(
      () => {},
      () => {},
    );
    this.#pending.set(root, settled);
    try {
      const lease = await acquired;
      if (lease === null) return lease;
      const holding = { lease, count: 0 };
      this.#holdings.set(root, holding);
      return this.#share(root, holding);
    } finally {
      this.#pending.delete(root);
    }
  }

  #share(root: object, holding: Holding): Lease {
    holding.count += 1;
    const share = new LeaseShare(holding.lease, async () => {
      holding.count -= 1;
      if (holding.count === 0) await holding.lease.release();
    });
    this.#roots.set(share, root);
    return share;
  }
}

/** One of several leases on one znode. */
class LeaseShare implements Lease {
  readonly path: string;
  readonly sessionId: bigint;
  readonly fencingToken: bigint;
  readonly guards?: readonly LeaseGuard[];
  readonly #controller = new AbortController();
  readonly #onRelease: () => Promise<void>;
  readonly #base: AbortSignal;
  readonly #onLost = () => this.#controller.abort(this.#base.reason);
  #releasing: Promise<void> | null = null;

  constructor(lease: Lease, onRelease: () => Promise<void>) {
    this.path = lease.path;
    this.sessionId = lease.sessionId;
    this.fencingToken = lease.fencingToken;
    if (lease.guards !== undefined) this.guards = lease.guards;
    this.#onRelease = onRelease;
    this.#base = lease.signal;
    setMaxListeners(0, this.#controller.signal);
    if (this.#base.aborted) this.#onLost();
    else this.#base.addEventListener('abort', this.#onLost, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get held(): boolean {
    return !this.#controller.signal.aborted;
  }

  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #release(): Promise<void> {
    this.#base.removeEventListener('abort', this.#onLost);
    this.#controller.abort(new LeaseReleasedError(this.path));
    return this.#onRelease();
  }
}
