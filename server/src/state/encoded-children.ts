/**
 * The encoded lists of children of large directories that were asked for lately.
 *
 * To encode a hundred thousand names takes longer than to send them, and those who ask for them
 * mostly ask again, many at once. A list is dropped with the first change of its directory, and
 * the one used least lately makes room. Bounded in bytes; not replicated. Called by Tree.
 */

/** Smaller ones are encoded each time. */
export const ENCODED_FROM = 1000;
const ENCODED_BYTES_MAX = 32 << 20;

export class EncodedChildren {
  /** The one used last comes last. */
  readonly #lists = new Map<number, Uint8Array>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = ENCODED_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of all lists. */
  get bytes(): number {
    return this.#bytes;
  }

  /** As a jute vector of strings; undefined when it must be encoded anew. */
  get(directory: number): Uint8Array | undefined {
    const list = this.#lists.get(directory);
    if (list !== undefined) {
      this.#lists.delete(directory);
      this.#lists.set(directory, list);
    }
    return list;
  }

  /** `list` belongs to this from now on. One that is larger than all may be is not kept. */
  keep(directory: number, list: Uint8Array): void {
    this.forget(directory);
    if (list.length > this.#bytesMax) {
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

  /** A child came or went. */
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
