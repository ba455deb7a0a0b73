/**
 * Makes pages of the names below a node, in code-unit order.
 *
 * The names of a small directory are sorted for each page: that costs a fraction of what keys and a
 * prefix for them do. The order of a large one is kept, sorted as far as pages were read, so that
 * the first page costs a pass over its names and each later one next to nothing. What is kept is
 * bounded in directories, in bytes and in changes, and none of it is replicated. For a directory
 * that is too large to be kept, the order is made for each page. Called by Tree, which reports
 * changes.
 */
import type { KeyedRandom } from './keyed-random.js';
import { type Children, LazyOrder, type NodeNames } from './lazy-order.js';

/** A directory with fewer names is small. */
const KEPT_FROM = 1000;
/** The bound over all directories: eight million names. */
const KEPT_BYTES_MAX = 128 << 20;
const KEPT_DIRECTORIES_MAX = 4;
/** An order with more changes than this, and than a quarter of its names, is rebuilt instead. */
const CHANGES_MIN = 1000;

export interface PageRequest {
  /** Names up to and including this one are left out; '' leaves out none. */
  readonly startAfter: string;
  /** The number of names, at least 1. */
  readonly limit: number;
  /**
   * The bound for the page's names as jute strings. The first name is included whatever its size.
   */
  readonly bytesMax: number;
}
export interface Page {
  readonly names: readonly string[];
  /** Whether there are names after the last one. */
  readonly more: boolean;
}

export interface PagedDirectory {
  readonly node: number;
  /** The number of its children. */
  readonly count: number;
  /** Lists the children, in any order. */
  list(): Children;
  /** Their names alone, in any order. */
  listNames(): readonly string[];
}

export class ChildPages {
  readonly #names: NodeNames;
  readonly #random: KeyedRandom;
  readonly #bytesMax: number;
  /** In the order of use, the most recently used directory last. */
  readonly #kept = new Map<number, LazyOrder>();

  constructor(names: NodeNames, random: KeyedRandom, bytesMax = KEPT_BYTES_MAX) {
    this.#names = names;
    this.#random = random;
    this.#bytesMax = bytesMax;
  }

  /** Whether the order of the directory is kept, in which case `changed` must be called. */
  keeps(directory: number): boolean {
    return this.#kept.size > 0 && this.#kept.has(directory);
  }

  /** The child was added, or is about to be removed: it has its name during the call. */
  changed(directory: number, child: number, exists: boolean): void {
    const kept = this.#kept.get(directory);
    if (kept === undefined) {
      return;
    }
    kept.change(child, exists);
    if (kept.pendingCount > CHANGES_MIN + kept.count / 4) {
      this.#kept.delete(directory);
    }
  }

  /** The directory was deleted. */
  forget(directory: number): void {
    this.#kept.delete(directory);
  }

  page({ node, count, list, listNames }: PagedDirectory, asked: PageRequest): Page {
    const { startAfter } = asked;
    const kept = this.#kept.get(node);
    this.#kept.delete(node);
    if (count < KEPT_FROM) {
      const names = listNames().filter((name) => name > startAfter);
      return cut(names.sort(), asked);
    }
    const order = kept ?? new LazyOrder(this.#names, list(), this.#random);
    const page = cut(order.above(startAfter), asked);
    if (order.bytes <= this.#bytesMax) {
      this.#kept.set(node, order);
      this.#makeRoom();
    }
    return page;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const kept of this.#kept.values()) {
      bytes += kept.bytes;
    }
    for (const [other, kept] of this.#kept) {
      if (this.#kept.size <= KEPT_DIRECTORIES_MAX && bytes <= this.#bytesMax) {
        break;
      }
      this.#kept.delete(other);
      bytes -= kept.bytes;
    }
  }
}

function cut(names: Iterable<string>, { limit, bytesMax }: PageRequest): Page {
  const page: string[] = [];
  let bytes = 0;
  for (const name of names) {
    bytes += 4 + Buffer.byteLength(name);
    if (page.length === limit || (bytes > bytesMax && page.length > 0)) {
      return { names: page, more: true };
    }
    page.push(name);
  }
  return { names: page, more: false };
}
