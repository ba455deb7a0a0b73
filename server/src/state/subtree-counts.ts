/**
 * How many nodes are below each node: kept up to date, so that asking is no walk of the tree.
 *
 * A create or delete counts at each of its ancestors, which costs as many steps as the path is
 * deep; most of those rows are in the cache anyway. Not stored: recovery counts anew. Four bytes a
 * node, outside the JavaScript heap. Called by Tree.
 */
import { INT, NONE, type NodeStore } from './node-store.js';

const PAGE_BITS = 14;
const PAGE_NODES = 1 << PAGE_BITS;
const NO_COUNTS = new Int32Array(0);

export class SubtreeCounts {
  readonly #store: NodeStore;
  readonly #pages: Int32Array[] = [];

  constructor(store: NodeStore) {
    this.#store = store;
  }

  below(node: number): number {
    return this.#pages[node >>> PAGE_BITS]?.[node & (PAGE_NODES - 1)] ?? 0;
  }

  /** A node below `parent` has come, or is about to go. A node that goes has nothing below it. */
  count(parent: number, by: 1 | -1): void {
    for (let at = parent; at !== NONE; at = this.#store.int(at, INT.parent)) {
      const page = this.#pages[at >>> PAGE_BITS] ?? this.#pageOf(at);
      const place = at & (PAGE_NODES - 1);
      page[place] = (page[place] ?? 0) + by;
    }
  }

  recount(): void {
    for (const page of this.#pages) {
      page.fill(0);
    }
    for (let node = 0; node < this.#store.limit; node++) {
      if (this.#store.isLive(node)) {
        this.count(this.#store.int(node, INT.parent), 1);
      }
    }
  }

  #pageOf(node: number): Int32Array {
    while (this.#pages.length <= node >>> PAGE_BITS) {
      this.#pages.push(new Int32Array(PAGE_NODES));
    }
    return this.#pages[node >>> PAGE_BITS] ?? NO_COUNTS;
  }
}
