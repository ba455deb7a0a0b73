/**
 * Numbers that nobody can foresee without a secret key: the hash of paths, applied to a counter.
 *
 * For choices that clients must not be able to spoil by the names that they choose. Nothing that is
 * replicated, and no answer, may depend on these numbers, because each member has a key of its own.
 * With a known key they are the same in each run. Used by LazyOrder.
 */
import { PathHash, type PathKey } from './path-hash.js';

export class KeyedRandom {
  readonly #hash: PathHash;
  #drawn = 0;

  /** The key may be that of paths, which begin with a slash, so none of them is hashed here. */
  constructor(key: PathKey) {
    this.#hash = new PathHash(key);
  }

  /** Returns a whole number from 0 on that is below `limit`, which is 2^32 at most. */
  below(limit: number): number {
    this.#drawn += 1;
    const share = (this.#hash.of(String(this.#drawn)) >>> 0) / 2 ** 32;
    return Math.floor(share * limit);
  }
}
