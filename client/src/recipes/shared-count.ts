/**
 * SharedCount: a small whole number that several processes see and change: Curator's SharedCount.
 *
 * **Guarantee.** As SharedValue's: `current` never goes back and follows the znode; trySet()
 * changes the count only from the very version seen. For sums that many add to, see AtomicLong.
 *
 * **Znodes.** `<path>`, persistent, with 4 bytes, big-endian; created with the seed by whoever
 * starts first. What is not 4 bytes is CorruptDataError to whoever reads it, until a count is set.
 *
 * **Suspended.** `current` may be old; writes wait. When the connection has come back the znode is
 * read again. **Lost.** The same in the next session; the count belongs to no session.
 */
import type { Client } from '../api/client.js';
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

  /** Counts are whole numbers from -2^31 to 2^31-1. */
  constructor(client: Client, path: string, seed: number, options: SharedValueOptions = {}) {
    super();
    this.path = path;
    this.#value = new SharedValue(client, path, encode(path, seed), options);
  }

  /** Null before the first reading. CorruptDataError. */
  get current(): VersionedCount | null {
    const { current } = this.#value;
    return current === null ? null : this.#decode(current);
  }

  /** Creates the znode if need be and follows it, in the background; idempotent. */
  start(): void {
    this.#value.start();
  }

  /** Starts if need be and waits until there is a count. */
  async ready(options: WaitOptions = {}): Promise<VersionedCount> {
    return this.#decode(await this.#value.ready(options));
  }

  /** As SharedValue.set(). NumberRangeError. */
  async set(count: number, options: WaitOptions = {}): Promise<VersionedCount> {
    return this.#decode(await this.#value.set(encode(this.path, count), options));
  }

  /** As SharedValue.trySet(). */
  async trySet(
    previous: VersionedCount,
    count: number,
    options: WaitOptions = {},
  ): Promise<boolean> {
    const { stat } = previous;
    return await this.#value.trySet({ data: null, stat }, encode(this.path, count), options);
  }

  /** Calls back with each newer count, but not for what is none; gives what undoes it. */
  listen(listener: (count: VersionedCount) => void): () => void {
    return this.#value.listen(({ data, stat }) => {
      const count = decodeInt32(data);
      if (count !== null) listener({ count, stat });
    });
  }

  /** As SharedValue.values(). CorruptDataError. */
  async *values(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<VersionedCount> {
    for await (const value of this.#value.values(options)) yield this.#decode(value);
  }

  /** Idempotent; the znode stays. */
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
    : new TypeError(`a count is a whole number, not ${count}`);
}
