/**
 * SharedValue: a few bytes that several processes see and change: Curator's SharedValue.
 *
 * **Guarantee.** `current` is a value that the znode had, the newest that this object has seen or
 * written; it never goes back (values are compared by the zxid of their write) and, while there is
 * a connection, follows the znode. trySet() changes the value only from the very version that the
 * caller has seen; `true` and `false` are certain, and where a lost reply leaves doubt it rejects
 * with an error whose `ambiguous` is true.
 *
 * **Znodes.** `<path>`, persistent, with the bytes as they are; created with the seed by whoever
 * starts first. Parents are made as containers. While it is deleted the last value stands.
 *
 * **Suspended.** `current` may be old; writes wait. When the connection has come back the znode is
 * read again. **Lost.** The same in the next session; the value belongs to no session.
 */
import type { Client } from '../api/client.js';
import type { Acl, Data, Node, Stat } from '../api/values.js';
import { checkCallOptions } from '../call-options.js';
import { upsert } from '../helpers/upsert.js';
import { NodeCache } from './node-cache.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { asDoubtful, persistWrite } from './shared/doubt.js';
import { WaitTimeoutError } from './shared/errors.js';
import { Feed } from './shared/feed.js';
import { ensureThere } from './shared/idempotent.js';
import { bounds, type Within } from './shared/persist.js';
import { inEachSession, Runner } from './shared/runner.js';
import { readNewest, swap } from './shared/swap.js';
import { IllegalVersionError } from './shared/value-errors.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';

/** A value as it was at some moment. */
export interface VersionedValue {
  /** Not to be changed: it belongs to the SharedValue. */
  readonly data: Buffer | null;
  readonly stat: Stat;
}

export interface SharedValueOptions {
  /** Of the znode and its parents; open by default. */
  readonly acl?: readonly Acl[] | undefined;
}

export class SharedValue extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #client: Client;
  readonly #seed: Data;
  readonly #acl: readonly Acl[] | undefined;
  readonly #cache: NodeCache;
  readonly #feed = new Feed<VersionedValue>();
  readonly #runner: Runner;
  #current: VersionedValue | null = null;
  #isSeeded = false;
  #closed: Promise<void> | null = null;

  constructor(client: Client, path: string, seed: Data, options: SharedValueOptions = {}) {
    super();
    this.path = path;
    this.#client = client;
    this.#seed = seed;
    this.#acl = options.acl;
    this.#cache = new NodeCache(client, path);
    const task = inEachSession(client, path, (within) => this.#follow(within));
    this.#runner = new Runner({ client, recipe: 'SharedValue', path, task });
  }

  /** Null before the first reading. */
  get current(): VersionedValue | null {
    return this.#current;
  }

  /** Creates the znode if need be and follows it, in the background; idempotent. */
  start(): void {
    this.#runner.start();
  }

  /** Starts if need be and waits until there is a value. */
  async ready(options: WaitOptions = {}): Promise<VersionedValue> {
    this.start();
    return await this.#runner.until(options, () => this.#current);
  }

  /**
   * Whatever the value is now. Goes on over lost replies, so it may overwrite later writes. When
   * the wait ends before it is known whether the value was set, the error is `ambiguous`.
   */
  async set(data: Data, options: WaitOptions = {}): Promise<VersionedValue> {
    const bytes = toBuffer(data);
    const wait = { ...options, onSessionLost: 'rejoin' } as const;
    const { stat } = await asDoubtful(this.#client, this.path, wait, (within, doubt) =>
      persistWrite(this.#client, within, doubt, () => {
        const given = { ...bounds(within), parents: 'container' } as const;
        const created = this.#acl === undefined ? given : { ...given, acl: this.#acl };
        return upsert(this.#client, this.path, bytes, created);
      }),
    );
    const value = { data: bytes, stat };
    this.#take(value);
    return value;
  }

  /**
   * Only if the value is still `previous`; false if not, and then `current` is at least as new as
   * what was in the way. IllegalVersionError for version -1, which would mean any.
   */
  async trySet(previous: VersionedValue, data: Data, options: WaitOptions = {}): Promise<boolean> {
    if (previous.stat.version === -1) throw new IllegalVersionError(this.path);
    const bytes = toBuffer(data);
    const expected = previous.stat;
    const wanted = { path: this.path, data: bytes, expected, acl: this.#acl };
    const swapped = await this.#within(options, async (within) => {
      const result = await swap(this.#client, wanted, within);
      if (result.kind === 'refused') {
        this.#take(await readNewest(this.#client, this.path, within));
      }
      return result;
    });
    if (swapped.kind === 'doubtful') throw swapped.error;
    if (swapped.kind === 'refused') return false;
    this.#take({ data: bytes, stat: swapped.stat });
    return true;
  }

  /** Calls back with each newer value, also those written here; gives what undoes it. */
  listen(listener: (value: VersionedValue) => void): () => void {
    return this.#feed.listen(listener);
  }

  /**
   * The value, and each newer one; a slow consumer skips values but not the last. Ends with the
   * signal, the loop or close(); throws `failure`.
   */
  async *values(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<VersionedValue> {
    checkCallOptions(options);
    const { signal } = options;
    const isAborted = () => signal?.aborted === true;
    this.start();
    // Who loops is thrown the failure.
    const listening = this.onFailure(() => {});
    try {
      for (let last: VersionedValue | null = null; !isAborted(); ) {
        last = await this.#runner.until({ signal }, () =>
          this.#current === last ? null : this.#current,
        );
        yield last;
      }
    } catch (error) {
      if (!isAborted() && !this.#runner.hasEndedWell) throw error;
    } finally {
      listening();
    }
  }

  /** Idempotent; the znode stays, and `current` stays readable. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#runner;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#runner.stop(), this.#cache.close()]);
  }

  /** Only once: a znode that somebody deletes stays deleted. */
  async #follow(within: Within): Promise<void> {
    if (!this.#isSeeded) {
      const given = this.#acl === undefined ? {} : { acl: this.#acl };
      await ensureThere(this.#client, this.path, { ...given, data: this.#seed }, within);
      this.#isSeeded = true;
    }
    this.#cache.start();
    for await (const event of this.#cache.events({ signal: within.signal, capacity: 1 })) {
      if (event.type === 'snapshot') this.#take(event.nodes.get(this.path) ?? null);
      else if ('path' in event) this.#take(event.node);
    }
    within.signal.throwIfAborted();
  }

  #take(value: Node | null): void {
    if (value === null) return;
    if (this.#current !== null && value.stat.mzxid <= this.#current.stat.mzxid) return;
    this.#current = { data: value.data, stat: value.stat };
    this.#feed.tell(this.#current);
    this.#runner.changes.notify();
  }

  #within<T>(options: WaitOptions, attempt: (within: Within) => Promise<T>): Promise<T> {
    const timeoutError = () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
    const wait = { ...options, timeoutError, onSessionLost: 'rejoin' } as const;
    return inSession(this.#client, wait, attempt);
  }
}

function toBuffer(data: Data): Buffer | null {
  return data === null ? null : Buffer.from(data);
}
