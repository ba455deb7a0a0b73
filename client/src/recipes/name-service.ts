/**
 * NameService: a tree of names with addresses, for things that keep their names for a long time.
 *
 * **Guarantee.** A lookup resolves with an address that the name had at some moment not before the
 * call. A registered name stays until it is unregistered, whatever sessions end. Followers see the
 * last address, but not necessarily each one. For names that should exist only as long as a
 * process, see ServiceDiscovery.
 *
 * **Znodes.** `<path>/<name>`, persistent, whose data is the address. A name may have several
 * parts, as `db/orders/primary`, and each part may be a name of its own. A part without an address
 * has no data (null). Missing parents are created as persistent znodes.
 *
 * **Suspended.** Calls wait, within their time limits. **Lost.** Calls continue in the next
 * session, because names belong to no session.
 */
import {
  BadArgumentsError,
  joinPath,
  NoNodeError,
  NotEmptyError,
  validatePath,
} from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Data, Node } from '../api/values.js';
import { upsert } from '../helpers/upsert.js';
import { NodeCache } from './node-cache.js';
import { type Doubt, persistWrite, withAmbiguity } from './shared/doubt.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { readNewest } from './shared/swap.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface NameServiceOptions {
  /** The ACL of new znodes; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

export class NameService {
  readonly path: string;
  readonly #client: Client;
  readonly #acl: readonly Acl[] | undefined;

  constructor(client: Client, path: string, options: NameServiceOptions = {}) {
    this.path = path;
    this.#client = client;
    this.#acl = options.acl;
  }

  /**
   * Sets the address of the name, replacing any other. If the wait ends before it is known whether
   * the address was set, the error is `ambiguous`.
   */
  async register(name: string, address: Exclude<Data, null>, options: WaitOptions = {}) {
    const path = this.#pathOf(name);
    await this.#within(options, (within, doubt) =>
      persistWrite(this.#client, within, doubt, () => {
        const given = { ...bounds(within), parents: 'persistent' } as const;
        const created = this.#acl === undefined ? given : { ...given, acl: this.#acl };
        return upsert(this.#client, path, address, created);
      }),
    );
  }

  /**
   * Removes the address, and the znode too unless there are names below it. Calling it again has no
   * effect.
   */
  async unregister(name: string, options: WaitOptions = {}): Promise<void> {
    const path = this.#pathOf(name);
    await this.#within(options, (within, doubt) =>
      persistWrite(this.#client, within, doubt, () => this.#remove(path, within)),
    );
  }

  /** Null for a name without an address. */
  async lookup(name: string, options: WaitOptions = {}): Promise<Buffer | null> {
    const path = this.#pathOf(name);
    const node = await this.#within<Node | null>(options, (within) =>
      readNewest(this.#client, path, within),
    );
    return node?.data ?? null;
  }

  /** The parts directly below a name, or at the top, sorted. They need not have addresses. */
  async list(name = '', options: WaitOptions = {}): Promise<string[]> {
    const path = name === '' ? this.path : this.#pathOf(name);
    return await this.#within(options, (within) =>
      persist(this.#client, within, async () => {
        try {
          await this.#client.sync(path, bounds(within));
          return [...(await this.#client.getChildren(path, bounds(within))).children].sort();
        } catch (error) {
          if (error instanceof NoNodeError) return [];
          throw error;
        }
      }),
    );
  }

  /**
   * Yields the current address, null for none, and then each change, until the signal is aborted or
   * the loop is left.
   */
  async *follow(
    name: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Buffer | null, void> {
    const cache = new NodeCache(this.#client, this.#pathOf(name));
    try {
      cache.start();
      let last: Buffer | null | undefined;
      for await (const _ of cache.events({ ...options, capacity: 1 })) {
        const address = cache.get()?.data ?? null;
        if (!cache.isInitialized || isSame(address, last)) continue;
        last = address;
        yield address;
      }
    } finally {
      await cache.close();
    }
  }

  async #remove(path: string, within: Within): Promise<void> {
    try {
      await this.#client.delete(path, bounds(within));
    } catch (error) {
      if (error instanceof NoNodeError) return;
      if (!(error instanceof NotEmptyError)) throw error;
      await this.#client.setData(path, null, bounds(within));
    }
  }

  #pathOf(name: string): string {
    const path = joinPath(this.path, name);
    if (name === '' || validatePath(path) !== null) throw new BadArgumentsError(path);
    return path;
  }

  #within<T>(
    options: WaitOptions,
    attempt: (within: Within, doubt: Doubt) => Promise<T>,
  ): Promise<T> {
    const wait = { ...options, onSessionLost: 'rejoin' } as const;
    return withAmbiguity(this.#client, this.path, wait, attempt);
  }
}

function isSame(left: Buffer | null, right: Buffer | null | undefined): boolean {
  if (left === null || right === null || right === undefined) return left === right;
  return left.equals(right);
}
