/**
 * Rendezvous: one party opens a meeting point, another one fills in a value later, and others wait
 * there for the value. In the example of the ZooKeeper documentation, these are a scheduler, a
 * master with its address, and workers.
 *
 * **Guarantee.** It is filled only once: a second fill() with another value fails. Whoever meets
 * there receives the value and a signal that is aborted when the rendezvous is over.
 *
 * **Znodes.** `<path>`, ephemeral, of the session that opens it, without data until it is filled.
 * Its data version is 0 while it is open and 1 when it is filled. Parents are created as
 * containers.
 *
 * **Suspended.** Waits continue. **Lost.** If the opener's session is lost, the rendezvous is over.
 * For others, a wait fails with SessionExpiredError, or continues in the next session
 * (`onSessionLost: 'rejoin'`); a meeting continues in any case.
 */
import { BadVersionError, nameOf, parentOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Codec } from '../api/codec.js';
import { ClientClosedError, LeaseLostError, LeaseReleasedError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import type { Acl, Data, Node } from '../api/values.js';
import { ambiguously } from './shared/ambiguous.js';
import { abandonContender, createContender } from './shared/contender.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';
import { LeaseHolder } from './shared/lease-holder.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { changeOf, lookAt } from './shared/sight.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';
import type { SessionLossOptions } from './shared/waiting-line.js';

/** The codec determines how the value is written as bytes and read from them. */
export interface RendezvousOptions<T> extends SessionLossOptions, Codec<T> {
  readonly acl?: readonly Acl[] | undefined;
}

export interface Meeting<T> extends AsyncDisposable {
  readonly value: T;
  /**
   * Aborted with a LeaseLostError when the rendezvous is over, or a LeaseReleasedError by end().
   */
  readonly signal: AbortSignal;
  /** Stops following the rendezvous. Calling it again has no effect. */
  end(): Promise<void>;
}

export class Rendezvous<T> {
  readonly path: string;
  readonly #client: Client;
  readonly #options: RendezvousOptions<T>;

  constructor(client: Client, path: string, options: RendezvousOptions<T>) {
    this.path = path;
    this.#client = client;
    this.#options = options;
  }

  /**
   * Opens the rendezvous. The lease represents it: releasing the lease ends it, and the lease's
   * signal tells when it has ended. Rejects with NodeExistsError if it is already open.
   */
  async open(options: WaitOptions = {}): Promise<Lease> {
    const { acl } = this.#options;
    const [parent, prefix] = [parentOf(this.path), nameOf(this.path)];
    return await inSession(this.#client, this.#wait(options), async (within) => {
      // After a lost reply, an empty znode of this session was created by this call.
      const plan = { parent, prefix, mode: 'ephemeral' as const, data: null, token: '', acl };
      const contender = await createContender(this.#client, plan, within);
      let lease: LeaseHolder | null = null;
      try {
        lease = await LeaseHolder.begin(this.#client, contender, within, {});
        if (lease === null) throw new LeaseLostError('deleted', this.path);
        return lease;
      } finally {
        if (lease === null) abandonContender(this.#client, contender);
      }
    });
  }

  /**
   * Fills in the value. Rejects with NoNodeError if it is not open, and with RecipeStateError if it
   * was filled with another value. Filling in the same value twice is allowed.
   */
  async fill(value: T, options: WaitOptions = {}): Promise<void> {
    const data = this.#options.format(value);
    const wait = { ...this.#wait(options), onSessionLost: 'rejoin' as const };
    const fill = async (within: Within) => {
      try {
        await persist(this.#client, within, () =>
          this.#client.setData(this.path, data, { ...bounds(within), version: 0 }),
        );
      } catch (error) {
        if (!(error instanceof BadVersionError)) throw error;
        if (!(await this.#holds(data, within))) {
          throw new RecipeStateError(this.path, 'is filled with something else');
        }
      }
    };
    await ambiguously(
      () => true,
      () => inSession(this.#client, wait, fill),
    );
  }

  /** Waits until it is open and filled. */
  async meet(options: WaitOptions = {}): Promise<Meeting<T>> {
    const { onSessionLost, parse } = this.#options;
    const wait = { ...this.#wait(options), onSessionLost };
    const node = await inSession(this.#client, wait, (within) => this.#filled(within));
    return new FollowedMeeting(this.#client, {
      path: this.path,
      value: parse(node.data),
      czxid: node.stat.czxid,
    });
  }

  async #filled(within: Within): Promise<Node> {
    for (;;) {
      const sight = await lookAt(this.#client, this.path, within);
      try {
        if (sight.seen !== null && sight.seen.stat.version > 0) return sight.seen;
        await changeOf(sight, within);
      } finally {
        sight.forget();
      }
    }
  }

  async #holds(data: Data, within: Within): Promise<boolean> {
    const node = await persist(this.#client, within, async () => {
      await this.#client.sync(this.path, bounds(within));
      return await this.#client.getData(this.path, bounds(within));
    });
    const expected = data === null ? null : Buffer.from(data);
    if (node.data === null || expected === null) return node.data === expected;
    return node.data.equals(expected);
  }

  #wait(options: WaitOptions) {
    const timeoutError = () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
    return { ...options, timeoutError };
  }
}

/** Watches the rendezvous until it is over, in any session. */
class FollowedMeeting<T> implements Meeting<T> {
  readonly value: T;
  readonly #client: Client;
  readonly #path: string;
  readonly #czxid: bigint;
  readonly #over = new AbortController();
  readonly #ending = new AbortController();
  readonly #following: Promise<void>;

  constructor(
    client: Client,
    { path, value, czxid }: { readonly path: string; readonly value: T; readonly czxid: bigint },
  ) {
    this.value = value;
    this.#client = client;
    this.#path = path;
    this.#czxid = czxid;
    this.#following = this.#follow();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  async end(): Promise<void> {
    this.#over.abort(new LeaseReleasedError(this.#path));
    this.#ending.abort();
    await this.#following;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  async #follow(): Promise<void> {
    const timeoutError = () => new WaitTimeoutError(this.#path, 0);
    const wait = { signal: this.#ending.signal, timeoutError, onSessionLost: 'rejoin' } as const;
    try {
      await inSession(this.#client, wait, async (within) => {
        while (await this.#isOnAfterChange(within));
      });
      this.#over.abort(new LeaseLostError('deleted', this.#path));
    } catch (error) {
      // If it cannot be determined whether it still exists, nobody may rely on it.
      const cause = error instanceof ClientClosedError ? 'closed' : 'expired';
      this.#over.abort(new LeaseLostError(cause, this.#path, { cause: error }));
    }
  }

  async #isOnAfterChange(within: Within): Promise<boolean> {
    const sight = await lookAt(this.#client, this.#path, within);
    try {
      if (sight.seen?.stat.czxid !== this.#czxid) return false;
      await changeOf(sight, within);
      return true;
    } finally {
      sight.forget();
    }
  }
}
