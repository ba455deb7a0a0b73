/**
 * Maintains how many nodes and bytes of data are below each node, so that reading these numbers
 * needs no walk over the tree.
 *
 * A create, a delete or a change of the size of data counts at each of the ancestors, which takes
 * as many steps as the path is deep; most of those rows are in the cache anyway. The counts are not
 * stored: recovery counts again, children of one parent together. They take twelve bytes for each
 * node, outside the JavaScript heap. Called by Tree and TreeLoader.
 */
import { INT, NONE, type NodeStore } from './node-store.js';

const PAGE_BITS = 14;
const PAGE_NODES = 1 << PAGE_BITS;
const PLACE_MASK = PAGE_NODES - 1;

interface Page {
  readonly counts: Int32Array;
  /** A float64, because a large tree has more than 2^31 bytes. */
  readonly bytes: Float64Array;
}

export class SubtreeCounts {
  readonly #store: NodeStore;
  readonly #pages: Page[] = [];

  constructor(store: NodeStore) {
    this.#store = store;
  }

  below(node: number): number {
    return this.#pages[node >>> PAGE_BITS]?.counts[node & PLACE_MASK] ?? 0;
  }
  /** The bytes of data below the node, without the node's own. */
  bytesBelow(node: number): number {
    return this.#pages[node >>> PAGE_BITS]?.bytes[node & PLACE_MASK] ?? 0;
  }

  /**
   * Nodes below `parent` were added, with `dataBytes` altogether, or are about to be removed, in
   * which case both numbers are negative. A node that is removed has nothing below it.
   */
  count(parent: number, by: number, dataBytes: number): void {
    for (let at = parent; at !== NONE; at = this.#store.int(at, INT.parent)) {
      const { counts, bytes } = this.#pages[at >>> PAGE_BITS] ?? this.#pageOf(at);
      const place = at & PLACE_MASK;
      counts[place] = (counts[place] ?? 0) + by;
      if (dataBytes !== 0) {
        bytes[place] = (bytes[place] ?? 0) + dataBytes;
      }
    }
  }

  /** The data of a child of `parent` grew by `by` bytes, or shrank if it is negative. */
  grew(parent: number, by: number): void {
    for (let at = parent; at !== NONE; at = this.#store.int(at, INT.parent)) {
      const { bytes } = this.#pages[at >>> PAGE_BITS] ?? this.#pageOf(at);
      const place = at & PLACE_MASK;
      bytes[place] = (bytes[place] ?? 0) + by;
    }
  }

  clear(): void {
    for (const { counts, bytes } of this.#pages) {
      counts.fill(0);
      bytes.fill(0);
    }
  }

  #pageOf(node: number): Page {
    for (;;) {
      const page = this.#pages[node >>> PAGE_BITS];
      if (page !== undefined) {
        return page;
      }
      this.#pages.push({
        counts: new Int32Array(PAGE_NODES),
        bytes: new Float64Array(PAGE_NODES),
      });
    }
  }
}
