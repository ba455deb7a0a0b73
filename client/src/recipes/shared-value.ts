/**
 * SharedValue: a few bytes that several processes read and change, as Curator's SharedValue.
 *
 * **Guarantee.** `current` is the newest value of the znode that this object has seen or written.
 * It never goes back (values are ordered by the zxid of their write), and it follows the znode
 * while connected. trySet() changes the value only from the version that the caller has seen. Its
 * results `true` and `false` are certain; if a lost reply leaves it unknown, it rejects with an
 * error whose `ambiguous` is true.
 *
 * **Znodes.** `<path>`, persistent, has the raw bytes. The first process to start creates it with
 * the seed. Parents are created as containers. While it is deleted, the last value remains.
 *
 * **Suspended.** `current` may be outdated, and writes wait. After a reconnect the znode is read
 * again. **Lost.** The same in the next session; the value belongs to no session.
 */
import type { Client } from '../api/client.js';
import type { Acl, Data, Node, Stat } from '../api/values.js';
import { checkCallOptions } from '../calls/call-options.js';
import { upsert } from '../helpers/upsert.js';
import { NodeCache } from './node-cache.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { persistWrite, withAmbiguity } from './shared/doubt.js';
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
  /** Must not be changed, because the SharedValue owns it. */
  readonly data: Buffer | null;
  readonly stat: Stat;
}

export interface SharedValueOptions {
  /** The ACL of the znode and its parents; OPEN_ACL by default. */
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

  /** Null before the first read. */
  get current(): VersionedValue | null {
    return this.#current;
  }

  /**
   * Creates the znode if necessary and follows it, in the background. Calling it again has no
   * effect.
   */
  start(): void {
    this.#runner.start();
  }

  /** Starts if necessary, and waits until there is a value. */
  async ready(options: WaitOptions = {}): Promise<VersionedValue> {
    this.start();
    return await this.#runner.until(options, () => this.#current);
  }

  /**
   * Sets the value, whatever it is now. It continues after lost replies, so it may overwrite later
   * writes. If the wait ends before it is known whether the value was set, the error is
   * `ambiguous`.
   */
  async set(data: Data, options: WaitOptions = {}): Promise<VersionedValue> {
    const bytes = toBuffer(data);
    const wait = { ...options, onSessionLost: 'rejoin' } as const;
    const { stat } = await withAmbiguity(this.#client, this.path, wait, (within, doubt) =>
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
   * Sets the value only if it is still `previous`. If it resolves with false, `current` is at least
   * as new as the value that prevented it. Rejects with IllegalVersionError for version -1, which
   * would match any version.
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

  /**
   * Calls the listener with each newer value, including those written here. Returns a function that
   * removes it.
   */
  listen(listener: (value: VersionedValue) => void): () => void {
    return this.#feed.listen(listener);
  }

  /**
   * Yields the value and each newer one; a slow consumer may miss values, but not the last one.
   * Ends with the signal, the loop or close(); throws `failure`.
   */
  async *values(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<VersionedValue> {
    checkCallOptions(options);
    const { signal } = options;
    const isAborted = () => signal?.aborted === true;
    this.start();
    // The failure is thrown in the loop, so it must not also be reported as unhandled.
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

  /**
   * Stops following. The znode remains, and `current` can still be read. Calling it again has no
   * effect.
   */
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

  /** Creates it only once, so a znode that somebody deletes stays deleted. */
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
