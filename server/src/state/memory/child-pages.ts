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

import { assert } from '@rookery/protocol';
import { type Children, LazyOrder, type NodeNames, type Pivot } from './lazy-order.js';
import { NamePrefix } from './name-prefix.js';
import { FLAG, INT, NONE, type NodeStore } from './node-store.js';
import type { KeyedRandom } from './path-hash.js';
import type { Payloads } from './payloads.js';

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

interface PagedDirectory {
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

/** The rows that are looked at for children whose names are typical of a directory. */
const ROWS_SAMPLED = 256;
/**
 * If there are at most so many rows for each child, all rows are read in the order of memory. A row
 * then takes about two thirds of the time that it takes to follow the link to it.
 */
const ROWS_PER_CHILD = 1.5;

interface Rows {
  readonly store: NodeStore;
  readonly payloads: Payloads;
}

/**
 * Lists the children of a large directory, divided around the page that is read first.
 *
 * Reading the rows of a million children from memory takes most of the time of a first page, so it
 * is done once: as soon as a child is read, the key of its name (name-prefix.ts) tells whether it
 * belongs before, into or behind the page. Where the page ends is guessed from a few names. A wrong
 * guess leaves more to sort and changes nothing else.
 */
export function dividedChildren(
  rows: Rows,
  node: number,
  asked: Pick<PageRequest, 'startAfter' | 'limit'>,
): Children {
  const { store, payloads } = rows;
  const { limit } = store;
  const count = store.int(node, INT.childCount);
  const sampled = sampledChildren(store, node);
  const samples = sampled.map((child) => payloads.name(child)).sort();
  const prefix = new NamePrefix(samples);
  const around = namesAround(samples, count, asked);
  // Children that were created in order come part by part. V8 compiles the loop for the parts that
  // it has seen, and discards that code when the next part begins. So a few children of each part
  // are divided first.
  const trial = new Division(payloads, prefix, { count: sampled.length, ...around });
  for (const child of sampled) trial.add(child);
  const division = new Division(payloads, prefix, { count, ...around });
  if (limit <= ROWS_PER_CHILD * count) {
    for (let row = 0; row < limit; row++) {
      if (isChild(store, row, node)) division.add(row);
    }
  } else {
    let child = store.int(node, INT.firstChild);
    while (child !== NONE) {
      division.add(child);
      child = store.int(child, INT.nextSibling);
    }
  }
  return division.children();
}

function isChild(store: NodeStore, row: number, parent: number): boolean {
  const ints = store.intPage(row);
  const base = store.intBase(row);
  return ints[base + INT.parent] === parent && ((ints[base + INT.shape] ?? 0) & FLAG.free) === 0;
}

/** A few children, if there are many, from all over: neighbours have similar names. */
function sampledChildren(store: NodeStore, node: number): number[] {
  const rows = Array.from({ length: ROWS_SAMPLED }, (_, at) =>
    Math.floor((at * store.limit) / ROWS_SAMPLED),
  );
  return rows.filter((row) => isChild(store, row, node));
}

/** Names at or before the start of the page and, most likely, behind its end; null is the end. */
function namesAround(
  samples: readonly string[],
  count: number,
  { startAfter, limit }: Pick<PageRequest, 'startAfter' | 'limit'>,
): { start: string; end: string | null } {
  const before = samples.filter((name) => name <= startAfter).length;
  const within = Math.ceil((limit * samples.length) / count);
  return { start: samples[before - 1] ?? '', end: samples[before + within + 1] ?? null };
}

const NO_END: Pivot = { text: '', key: Number.POSITIVE_INFINITY };

/** The children in three parts, one behind the other in the same arrays. */
class Division {
  readonly #payloads: Payloads;
  readonly #prefix: NamePrefix;
  readonly #nodes: Int32Array;
  readonly #keys: Float64Array;
  /** The middle part has the names from `#start` on that are below `#end`. */
  readonly #start: Pivot;
  readonly #end: Pivot;
  /** The middle part is from index `#middle` to before `#free`; the last one is from `#last` on. */
  #middle = 0;
  #free = 0;
  #last: number;

  constructor(
    payloads: Payloads,
    prefix: NamePrefix,
    { count, start, end }: { count: number; start: string; end: string | null },
  ) {
    this.#payloads = payloads;
    this.#prefix = prefix;
    this.#nodes = new Int32Array(count);
    this.#keys = new Float64Array(count);
    this.#start = { text: start, key: prefix.keyOf(start) };
    this.#end = end === null ? NO_END : { text: end, key: prefix.keyOf(end) };
    this.#last = count;
  }

  add(child: number): void {
    const key = this.#payloads.keyOf(child, this.#prefix);
    const nodes = this.#nodes;
    const keys = this.#keys;
    let at: number;
    if (this.#isBelow(child, key, this.#end)) {
      at = this.#free++;
      if (this.#isBelow(child, key, this.#start)) {
        // The first of the middle part makes room and becomes its last.
        nodes[at] = nodes[this.#middle] ?? NONE;
        keys[at] = keys[this.#middle] ?? 0;
        at = this.#middle++;
      }
    } else {
      at = --this.#last;
    }
    nodes[at] = child;
    keys[at] = key;
  }

  children(): Children {
    assert(this.#free === this.#last, 'a directory has as many children as it counts');
    const cuts = [
      { at: this.#middle, text: this.#start.text },
      { at: this.#last, text: this.#end.text },
    ].filter(({ text }) => text !== '');
    return { prefix: this.#prefix, nodes: this.#nodes, keys: this.#keys, cuts };
  }

  /** Mostly the keys decide, and nothing is called. */
  #isBelow(child: number, key: number, bound: Pivot): boolean {
    if (key !== bound.key) return key < bound.key;
    return this.#payloads.compareName(child, bound.text) < 0;
  }
}
