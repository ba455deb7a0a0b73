/**
 * Keeps the children of a directory in the order of their names, sorted only where somebody reads:
 * incremental sorting.
 *
 * A child is the number of its node and a key, which decides most of the order (name-prefix.ts), so
 * there is no string and no object for each. They are partitioned into runs, each of which precedes
 * the next as a whole. The run that is read is sorted; a large one is first cut in two, again and
 * again, until the part that is read is small. If possible, children come divided around the page
 * that is read first (child-pages.ts). The first read then looks at each key about once and at
 * few names, and later reads look at next to nothing. Nobody waits for a complete sort. Changes are
 * kept beside their run until it is read. Called by ChildPages.
 */
import { assert } from '@rookery/protocol';
import type { NamePrefix } from './name-prefix.js';
import type { KeyedRandom } from './path-hash.js';

/** Runs up to this size are sorted as they are; larger ones are cut. */
const RUN_NODES = 1024;
const SAMPLES = 31;
/**
 * A cut that leaves more than this part on one side is useless. The samples are drawn, so nobody
 * can choose names for it, and chance makes less than one cut in 10^10 such.
 */
const LOPSIDED = 15 / 16;
/** The memory of a child: a number of 4 bytes and a key of 8, and some of what runs replaced. */
const CHILD_BYTES = 16;
/** The memory of a change that is kept beside its run. */
const CHANGE_BYTES = 40;

/** The names of nodes; comparisons are by code units, and below, at or above 0. */
export interface NodeNames {
  name(node: number): string;
  compareNames(a: number, b: number): number;
  compareName(node: number, text: string): number;
  keyOf(node: number, prefix: NamePrefix): number;
}

/** The names of the nodes before index `at` are below `text`; those from there on are not. */
export interface Cut {
  readonly at: number;
  readonly text: string;
}

export interface Children {
  readonly prefix: NamePrefix;
  readonly nodes: Int32Array;
  /** The key of each node's name, by the prefix. */
  readonly keys: Float64Array;
  /** Where they are divided already: the texts ascend and are not empty. */
  readonly cuts: readonly Cut[];
}

/** A name that is compared with many others. */
export interface Pivot {
  readonly text: string;
  readonly key: number;
}

interface Run {
  /** Every name in the run is equal to or above this one, and below the next run's. */
  from: Pivot;
  nodes: Int32Array;
  keys: Float64Array;
  isSorted: boolean;
  /**
   * For each node that came or went since `nodes` was made: whether it exists. A number that went
   * may belong to another node by now, so `nodes` are not looked at before these are applied.
   */
  changes: Map<number, boolean> | null;
}

export class LazyOrder {
  readonly #names: NodeNames;
  readonly #prefix: NamePrefix;
  readonly #random: KeyedRandom;
  /** In order; the first run starts from the empty text. */
  readonly #runs: Run[];
  /**
   * Runs that were cut and not changed share the memory in which the children came: all of it stays
   * while one of them does. So the children at first count until the order is dropped.
   */
  readonly #firstCount: number;
  #pendingCount = 0;
  #count: number;

  /** Takes ownership of the children, each of which has a name of its own. */
  constructor(names: NodeNames, { prefix, nodes, keys, cuts }: Children, random: KeyedRandom) {
    this.#names = names;
    this.#prefix = prefix;
    this.#random = random;
    this.#firstCount = nodes.length;
    this.#count = nodes.length;
    const starts = [{ at: 0, text: '' }, ...cuts];
    this.#runs = starts.map(({ at, text }, index) => {
      const end = starts[index + 1]?.at ?? nodes.length;
      const part = { nodes: nodes.subarray(at, end), keys: keys.subarray(at, end) };
      return { from: this.#pivotOf(text), ...part, isSorted: false, changes: null };
    });
  }

  get count(): number {
    return this.#count;
  }
  /** The approximate memory of everything here, in bytes. */
  get bytes(): number {
    const count = Math.max(this.#count, this.#firstCount);
    return count * CHILD_BYTES + this.#pendingCount * CHANGE_BYTES;
  }
  /** The number of runs; one of them may be empty. */
  get runCount(): number {
    return this.#runs.length;
  }
  /** The number of changes whose run was not read since. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  /** The node was added, or is about to be removed: it has its name during the call. */
  change(node: number, exists: boolean): void {
    this.#count += exists ? 1 : -1;
    const key = this.#names.keyOf(node, this.#prefix);
    const run = this.#run(this.#lastFrom((from) => this.#compare(node, key, from) >= 0));
    run.changes ??= new Map();
    const before = run.changes.size;
    run.changes.set(node, exists);
    this.#pendingCount += run.changes.size - before;
  }

  /**
   * Yields the names above `after`, in order, as far as somebody reads. No change may happen
   * meanwhile.
   */
  *above(after: string): Generator<string, void> {
    const pivot = this.#pivotOf(after);
    let index = this.#sortAt(pivot);
    let at = this.#firstAbove(this.#run(index), pivot);
    for (;;) {
      const { nodes } = this.#run(index);
      for (; at < nodes.length; at++) {
        yield this.#names.name(nodes[at] ?? -1);
      }
      const next = this.#leave(index);
      if (next === this.#runs.length) {
        return;
      }
      index = this.#sortAt(this.#run(next).from);
      at = 0;
    }
  }

  /**
   * Returns the index of the run after the one that was read. An empty run is removed, and the next
   * one takes over its range: a directory whose names move on, such as a queue's, would otherwise
   * leave more of them every day.
   */
  #leave(index: number): number {
    const next = this.#runs[index + 1];
    if (next === undefined || this.#run(index).nodes.length > 0) {
      return index + 1;
    }
    next.from = this.#run(index).from;
    this.#runs.splice(index, 1);
    return index;
  }

  /** The index of the run that contains the name, or would: small and sorted. */
  #sortAt({ text }: Pivot): number {
    const find = (): number => this.#lastFrom((from) => from.text <= text);
    let index = find();
    this.#applyChanges(this.#run(index));
    for (;;) {
      const run = this.#run(index);
      if (run.isSorted || run.nodes.length <= RUN_NODES) {
        break;
      }
      this.#cut(index);
      index = find();
    }
    const run = this.#run(index);
    if (!run.isSorted) {
      this.#sort(run);
      run.isSorted = true;
    }
    return index;
  }

  #applyChanges(run: Run): void {
    const { changes } = run;
    if (changes === null) {
      return;
    }
    const nodes = new Int32Array(run.nodes.length + changes.size);
    const keys = new Float64Array(nodes.length);
    let count = 0;
    const add = (node: number, key: number): void => {
      nodes[count] = node;
      keys[count++] = key;
    };
    for (const [at, node] of run.nodes.entries()) {
      if (!changes.has(node)) add(node, run.keys[at] ?? 0);
    }
    for (const [node, exists] of changes) {
      if (exists) add(node, this.#names.keyOf(node, this.#prefix));
    }
    run.nodes = nodes.subarray(0, count);
    run.keys = keys.subarray(0, count);
    run.isSorted = false;
    run.changes = null;
    this.#pendingCount -= changes.size;
  }

  /**
   * Cuts the run in two near the middle, by a guess; if that fails, sorts it and cuts it into as
   * many as needed.
   */
  #cut(index: number): void {
    const run = this.#run(index);
    const { from, nodes, keys } = run;
    const pivot = this.#guessMiddle(run);
    const middle = this.#partition(run, pivot);
    if (Math.max(middle, nodes.length - middle) > LOPSIDED * nodes.length) {
      this.#runs.splice(index, 1, ...this.#sortedRuns(run));
      return;
    }
    const part = (of: Pivot, start: number, end: number): Run => ({
      from: of,
      nodes: nodes.subarray(start, end),
      keys: keys.subarray(start, end),
      isSorted: false,
      changes: null,
    });
    this.#runs.splice(index, 1, part(from, 0, middle), part(pivot, middle, nodes.length));
  }

  /** Moves those whose names are below the pivot to the front; returns their number. */
  #partition({ nodes, keys }: Run, pivot: Pivot): number {
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const node = nodes[low] ?? -1;
      const key = keys[low] ?? 0;
      // Mostly the keys decide, and nothing is called.
      const isBelow =
        key < pivot.key || (key === pivot.key && this.#names.compareName(node, pivot.text) < 0);
      if (isBelow) {
        low += 1;
        continue;
      }
      high -= 1;
      nodes[low] = nodes[high] ?? -1;
      keys[low] = keys[high] ?? 0;
      nodes[high] = node;
      keys[high] = key;
    }
    return low;
  }

  #guessMiddle({ nodes, keys }: Run): Pivot {
    const at = Array.from({ length: SAMPLES }, () => this.#random.below(nodes.length));
    const samples: Pick<Run, 'nodes' | 'keys'> = {
      nodes: Int32Array.from(at, (index) => nodes[index] ?? -1),
      keys: Float64Array.from(at, (index) => keys[index] ?? 0),
    };
    this.#sort(samples);
    return this.#pivotOf(this.#names.name(samples.nodes[SAMPLES >>> 1] ?? -1));
  }

  #sortedRuns(run: Run): Run[] {
    this.#sort(run);
    const { from, nodes, keys } = run;
    const runs: Run[] = [];
    for (let at = 0; at < nodes.length; at += RUN_NODES) {
      const end = at + RUN_NODES;
      const start = at === 0 ? from : this.#pivotOf(this.#names.name(nodes[at] ?? -1));
      const part = { nodes: nodes.subarray(at, end), keys: keys.subarray(at, end) };
      runs.push({ from: start, ...part, isSorted: true, changes: null });
    }
    return runs;
  }

  /** In place. */
  #sort({ nodes, keys }: Pick<Run, 'nodes' | 'keys'>): void {
    const order = Uint32Array.from(nodes.keys());
    order.sort((a, b) => {
      const difference = (keys[a] ?? 0) - (keys[b] ?? 0);
      if (difference !== 0) return difference;
      return this.#names.compareNames(nodes[a] ?? -1, nodes[b] ?? -1);
    });
    const [nodesBefore, keysBefore] = [nodes.slice(), keys.slice()];
    for (const [to, at] of order.entries()) {
      nodes[to] = nodesBefore[at] ?? -1;
      keys[to] = keysBefore[at] ?? 0;
    }
  }

  #pivotOf(text: string): Pivot {
    return { text, key: this.#prefix.keyOf(text) };
  }

  #compare(node: number, key: number, pivot: Pivot): number {
    return key - pivot.key || this.#names.compareName(node, pivot.text);
  }

  /** The index of the last run whose `from` is not above what is searched for. */
  #lastFrom(isNotAbove: (from: Pivot) => boolean): number {
    let low = 0;
    let high = this.#runs.length;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if (isNotAbove(this.#run(middle).from)) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The index of the first of the sorted nodes whose name is above the pivot. */
  #firstAbove({ nodes, keys }: Run, pivot: Pivot): number {
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(nodes[middle] ?? -1, keys[middle] ?? 0, pivot) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  #run(index: number): Run {
    const run = this.#runs[index];
    assert(run !== undefined, () => `run ${index} is one of ${this.#runs.length}`);
    return run;
  }
}
