/**
 * Barrier: holds back whoever waits while it is set, and lets all go when it is removed.
 *
 * **Guarantee.** A wait that resolves has seen the barrier not set at a moment between its call and
 * its end. A waiter misses no removal that lasts: it looks and watches in one step, and looks again
 * after a lost connection. One that was set again before a waiter could look holds that one again.
 *
 * **Znodes.** `<path>`, persistent, without data: Curator's DistributedBarrier. It exists = it is
 * set. Nothing else; whoever waits has no znode. Parents are made as containers.
 *
 * **Suspended.** A wait goes on. **Lost.** A wait fails with SessionExpiredError, or goes on in the
 * next session (`onSessionLost: 'rejoin'`). The barrier itself belongs to no session.
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
  /** Of the znode and of the parents; open by default. */
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

  /** Whoever waits from now on is held back; does nothing if it is set already. */
  async set(options: WaitOptions = {}): Promise<void> {
    const { acl } = this.#options;
    const given = acl === undefined ? {} : { acl };
    await this.#change(options, (within) => ensureThere(this.#client, this.path, given, within));
  }

  /**
   * Lets all go; does nothing if it is not set. Goes on over lost connections, so one that somebody
   * sets again meanwhile may be removed as well.
   */
  async remove(options: WaitOptions = {}): Promise<void> {
    await this.#change(options, (within) => ensureGone(this.#client, this.path, within));
  }

  /** Whether it is set, as of a reading that is at least as new as the call. */
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
   * Resolves when it is not set, at once if so already. WaitTimeoutError, OperationAbortedError,
   * SessionExpiredError, ClientClosedError, or the server's answer, such as NoAuthError.
   */
  async wait(options: WaitOptions = {}): Promise<void> {
    const { onSessionLost } = this.#options;
    await inSession(this.#client, { ...this.#timed(options), onSessionLost }, async (within) => {
      // A member that is behind might not know of it yet.
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
