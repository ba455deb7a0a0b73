/**
 * Caches the encoded lists of children of large directories that were requested lately.
 *
 * Encoding a hundred thousand names takes longer than sending them, and clients that request them
 * mostly do so again, many at once. A list is dropped with the first change of its directory, and
 * the least recently used one makes room. The cache is bounded in bytes and not replicated. Called
 * by Listings.
 */

/** Smaller directories are encoded each time. */
export const ENCODED_FROM = 1000;
const ENCODED_BYTES_MAX = 32 << 20;

export class EncodedChildren {
  /** In the order of use, the most recently used list last. */
  readonly #lists = new Map<number, Uint8Array>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = ENCODED_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The bytes of all lists. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The list as a jute vector of strings; undefined if it must be encoded anew. */
  get(directory: number): Uint8Array | undefined {
    const list = this.#lists.get(directory);
    if (list !== undefined) {
      this.#lists.delete(directory);
      this.#lists.set(directory, list);
    }
    return list;
  }

  /** Whether a list of this size fits into the cache. */
  mayKeep(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  /**
   * The cache owns `list` from now on. It drops a list that does not fit.
   */
  keep(directory: number, list: Uint8Array): void {
    this.forget(directory);
    if (!this.mayKeep(list.length)) {
      return;
    }
    for (const [other, its] of this.#lists) {
      if (this.#bytes + list.length <= this.#bytesMax) {
        break;
      }
      this.#lists.delete(other);
      this.#bytes -= its.length;
    }
    this.#lists.set(directory, list);
    this.#bytes += list.length;
  }

  /** A child was added or removed. */
  forget(directory: number): void {
    if (this.#lists.size === 0) {
      return;
    }
    const list = this.#lists.get(directory);
    if (list !== undefined) {
      this.#lists.delete(directory);
      this.#bytes -= list.length;
    }
  }
}
