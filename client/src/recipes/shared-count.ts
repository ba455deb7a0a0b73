/**
 * SharedCount: a small integer that several processes read and change, as Curator's SharedCount.
 *
 * **Guarantee.** The same as for SharedValue: `current` never goes back and follows the znode, and
 * trySet() changes the count only from the version that the caller has seen. For sums to which many
 * add, see AtomicLong.
 *
 * **Znodes.** `<path>`, persistent, has 4 bytes, big-endian. The first process to start creates it
 * with the seed. Reading other data is a CorruptDataError, until a count is set.
 *
 * **Suspended.** `current` may be outdated, and writes wait. After a reconnect the znode is read
 * again. **Lost.** The same in the next session; the count belongs to no session.
 */
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import type { Stat } from '../api/values.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { decodeInt32, encodeInt32 } from './shared/curator.js';
import { CorruptDataError, NumberRangeError } from './shared/value-errors.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { SharedValue, type SharedValueOptions, type VersionedValue } from './shared-value.js';

export interface VersionedCount {
  readonly count: number;
  readonly stat: Stat;
}

export class SharedCount extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #value: SharedValue;

  /** Counts are integers from -2^31 to 2^31-1. Throws NumberRangeError and OptionError. */
  constructor(client: Client, path: string, seed: number, options: SharedValueOptions = {}) {
    super();
    this.path = path;
    this.#value = new SharedValue(client, path, encode(path, seed), options);
  }

  /** Null before the first read. Throws CorruptDataError. */
  get current(): VersionedCount | null {
    const { current } = this.#value;
    return current === null ? null : this.#decode(current);
  }

  /**
   * Creates the znode if necessary and follows it, in the background. Calling it again has no
   * effect.
   */
  start(): void {
    this.#value.start();
  }

  /** Starts if necessary, and waits until there is a count. */
  async ready(options: WaitOptions = {}): Promise<VersionedCount> {
    return this.#decode(await this.#value.ready(options));
  }

  /** See SharedValue.set(). Rejects with NumberRangeError, or OptionError if it is no integer. */
  async set(count: number, options: WaitOptions = {}): Promise<VersionedCount> {
    return this.#decode(await this.#value.set(encode(this.path, count), options));
  }

  /** See SharedValue.trySet(). */
  async trySet(
    previous: VersionedCount,
    count: number,
    options: WaitOptions = {},
  ): Promise<boolean> {
    const { stat } = previous;
    return await this.#value.trySet({ data: null, stat }, encode(this.path, count), options);
  }

  /**
   * Calls the listener with each newer count, but not for invalid data. Returns a function that
   * removes it.
   */
  listen(listener: (count: VersionedCount) => void): () => void {
    return this.#value.listen(({ data, stat }) => {
      const count = decodeInt32(data);
      if (count !== null) listener({ count, stat });
    });
  }

  /** See SharedValue.values(). Throws CorruptDataError. */
  async *values(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<VersionedCount> {
    for await (const value of this.#value.values(options)) yield this.#decode(value);
  }

  /** Stops following; the znode remains. Calling it again has no effect. */
  close(): Promise<void> {
    return this.#value.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#value;
  }

  #decode({ data, stat }: VersionedValue): VersionedCount {
    const count = decodeInt32(data);
    if (count === null) throw new CorruptDataError(this.path, '4 bytes');
    return { count, stat };
  }
}

function encode(path: string, count: number): Buffer {
  if (Number.isInteger(count) && (count | 0) === count) return encodeInt32(count);
  throw Number.isInteger(count)
    ? new NumberRangeError(path, BigInt(count), '4 bytes')
    : new OptionError('count', `must be an integer, is ${count}: ${path}`);
}
