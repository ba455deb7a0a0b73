/**
 * Lists the children of a large directory, divided around the page that somebody reads first.
 *
 * Reading the rows of a million children from memory takes most of the time of a first page, so it
 * is done once: as soon as a child is read, the key of its name (name-prefix.ts) tells whether it
 * belongs before, into or behind the page. Where the page ends is guessed from a few names. A wrong
 * guess leaves more to sort and changes nothing else. Called by Tree, for LazyOrder.
 */
import { assert } from '@rookery/protocol';
import type { PageRequest } from './child-pages.js';
import type { Children, Pivot } from './lazy-order.js';
import { NamePrefix } from './name-prefix.js';
import { FLAG, INT, NONE, type NodeStore } from './node-store.js';
import type { Payloads } from './payloads.js';

/** The rows that are looked at for children whose names are typical of a directory. */
const ROWS_SAMPLED = 256;
/**
 * If there are at most so many rows for each child, all rows are read in the order of memory. A row
 * then takes about two thirds of the time that it takes to follow the link to it.
 */
const ROWS_PER_CHILD = 1.5;

export interface Rows {
  readonly store: NodeStore;
  readonly payloads: Payloads;
}

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
