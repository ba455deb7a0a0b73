/**
 * Barrier: blocks everybody who waits while it is set, and lets all go when it is removed.
 *
 * **Guarantee.** When a wait resolves, the barrier was not set at some moment between the call and
 * its end. A waiter misses no removal that lasts, because it reads and watches in one request, and
 * reads again after a lost connection. If the barrier is set again before a waiter could read, that
 * waiter stays blocked.
 *
 * **Znodes.** `<path>`, persistent, without data, as for Curator's DistributedBarrier. The barrier
 * is set while it exists. Waiters have no znodes. Parents are created as containers.
 *
 * **Suspended.** A wait continues. **Lost.** A wait fails with SessionExpiredError, or continues in
 * the next session (`onSessionLost: 'rejoin'`). The barrier itself belongs to no session.
 */
import type { Client } from '../api/client.js';
import type { Acl } from '../api/values.js';
import { ambiguously } from './shared/ambiguous.js';
import { WaitTimeoutError } from './shared/errors.js';
import { ensureGone, ensureThere } from './shared/idempotent.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { waitUntilGone } from './shared/predecessor.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';
import type { SessionLossOptions } from './shared/waiting-line.js';

export interface BarrierOptions extends SessionLossOptions {
  /** The ACL of the znode and of its parents; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

export class Barrier {
  readonly path: string;
  readonly #client: Client;
  readonly #options: BarrierOptions;

  constructor(client: Client, path: string, options: BarrierOptions = {}) {
    this.path = path;
    this.#client = client;
    this.#options = options;
  }

  /** Sets the barrier, which blocks all later waits. Does nothing if it is already set. */
  async set(options: WaitOptions = {}): Promise<void> {
    const { acl } = this.#options;
    const given = acl === undefined ? {} : { acl };
    await this.#change(options, (within) => ensureThere(this.#client, this.path, given, within));
  }

  /**
   * Removes the barrier and lets all waiters go. Does nothing if it is not set. It continues after
   * lost connections, so it may also remove a barrier that somebody sets again meanwhile. Rejects
   * with NotEmptyError if a znode of others is below it.
   */
  async remove(options: WaitOptions = {}): Promise<void> {
    await this.#change(options, (within) => ensureGone(this.#client, this.path, within));
  }

  /** Resolves with whether it is set, from a read that is at least as new as the call. */
  async isSet(options: WaitOptions = {}): Promise<boolean> {
    const wait = { ...this.#timed(options), onSessionLost: 'rejoin' as const };
    return await inSession(this.#client, wait, (within) =>
      persist(this.#client, within, async () => {
        await this.#client.sync(this.path, bounds(within));
        return (await this.#client.exists(this.path, bounds(within))) !== null;
      }),
    );
  }

  /**
   * Resolves when the barrier is not set, at once if it is not set now. Rejects with
   * WaitTimeoutError, OperationAbortedError, SessionExpiredError, ClientClosedError, or an error of
   * the server, such as NoAuthError.
   */
  async wait(options: WaitOptions = {}): Promise<void> {
    const { onSessionLost } = this.#options;
    await inSession(this.#client, { ...this.#timed(options), onSessionLost }, async (within) => {
      // A member that lags behind might not know of the barrier yet.
      await persist(this.#client, within, () => this.#client.sync(this.path, bounds(within)));
      await waitUntilGone(this.#client, this.path, within);
    });
  }

  async #change(options: WaitOptions, write: (within: Within) => Promise<unknown>): Promise<void> {
    const wait = { ...this.#timed(options), onSessionLost: 'rejoin' as const };
    await ambiguously(
      () => true,
      () => inSession(this.#client, wait, write),
    );
  }

  #timed(options: WaitOptions) {
    const timeoutError = () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
    return { ...options, timeoutError };
  }
}
