/**
 * Keeps names in code-unit order, sorted only where somebody reads: incremental sorting.
 *
 * The names are partitioned into runs, each of which precedes the next as a whole. The run that is
 * read is sorted; a large one is first cut in two, again and again, until the part that is read is
 * small. The first read therefore costs a few passes over all names, later ones next to nothing,
 * and nobody waits for a complete sort. Changes are kept beside their run until it is read. Called
 * by ChildPages.
 */
import { assert } from '@rookery/protocol';

/** Runs up to this size are sorted as they are; larger ones are cut. */
const RUN_NAMES = 4096;
const SAMPLES = 31;
/**
 * A cut that leaves more than this part on one side is useless: somebody chose the names for it.
 */
const LOPSIDED = 15 / 16;
/** The memory of a string and its place in an array, beside its characters. */
export const NAME_BYTES = 40;

interface Run {
  /** Every name in the run is equal to or above this one, and below the next run's. */
  from: string;
  names: string[];
  isSorted: boolean;
  /** For each name that changed since `names` was made: whether it exists. */
  changes: Map<string, boolean> | null;
}

export class LazyOrder {
  /** In order; the first run starts from ''. */
  readonly #runs: Run[];
  #pendingCount = 0;
  #count: number;
  #bytes = 0;

  /** Takes ownership of the names, each of which occurs once. */
  constructor(names: string[]) {
    this.#count = names.length;
    for (const name of names) {
      this.#bytes += NAME_BYTES + name.length;
    }
    this.#runs = [{ from: '', names, isSorted: false, changes: null }];
  }

  get count(): number {
    return this.#count;
  }
  /** The approximate memory of everything here, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }
  /** The number of runs; one of them may be empty. */
  get runCount(): number {
    return this.#runs.length;
  }
  /** The number of changes whose run was not read since. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  /** The name was added or removed. */
  change(name: string, exists: boolean): void {
    const by = exists ? 1 : -1;
    this.#count += by;
    this.#bytes += by * (NAME_BYTES + name.length);
    const run = this.#run(this.#indexOf(name));
    run.changes ??= new Map();
    const before = run.changes.size;
    run.changes.set(name, exists);
    this.#pendingCount += run.changes.size - before;
  }

  /**
   * Yields the names above `after`, in order, as far as somebody reads. No change may happen
   * meanwhile.
   */
  *above(after: string): Generator<string, void> {
    let index = this.#sortAt(after);
    let at = firstAbove(this.#run(index).names, after);
    for (;;) {
      const { names } = this.#run(index);
      for (; at < names.length; at++) {
        yield names[at] ?? '';
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
    if (next === undefined || this.#run(index).names.length > 0) {
      return index + 1;
    }
    next.from = this.#run(index).from;
    this.#runs.splice(index, 1);
    return index;
  }

  /** The index of the run that contains the name, or would: small and sorted. */
  #sortAt(name: string): number {
    let index = this.#indexOf(name);
    this.#applyChanges(this.#run(index));
    for (;;) {
      const run = this.#run(index);
      if (run.isSorted || run.names.length <= RUN_NAMES) {
        break;
      }
      this.#cut(index);
      index = this.#indexOf(name);
    }
    const run = this.#run(index);
    if (!run.isSorted) {
      run.names.sort();
      run.isSorted = true;
    }
    return index;
  }

  #applyChanges(run: Run): void {
    const { changes } = run;
    if (changes === null) {
      return;
    }
    run.names = run.names.filter((name) => !changes.has(name));
    for (const [name, exists] of changes) {
      if (exists) {
        run.names.push(name);
      }
    }
    run.isSorted = false;
    run.changes = null;
    this.#pendingCount -= changes.size;
  }

  /**
   * Cuts the run in two near the middle, by a guess; if that fails, sorts it and cuts it into as
   * many as needed.
   */
  #cut(index: number): void {
    const { from, names } = this.#run(index);
    const pivot = guessMiddle(names);
    const [below, rest]: [string[], string[]] = [[], []];
    for (const name of names) {
      if (name < pivot) {
        below.push(name);
      } else {
        rest.push(name);
      }
    }
    if (Math.max(below.length, rest.length) > LOPSIDED * names.length) {
      this.#runs.splice(index, 1, ...sortedRuns(from, names));
      return;
    }
    this.#runs.splice(
      index,
      1,
      { from, names: below, isSorted: false, changes: null },
      { from: pivot, names: rest, isSorted: false, changes: null },
    );
  }

  #indexOf(name: string): number {
    let low = 0;
    let high = this.#runs.length;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if (this.#run(middle).from <= name) {
        low = middle;
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

function guessMiddle(names: readonly string[]): string {
  const step = Math.floor(names.length / SAMPLES);
  const samples = Array.from({ length: SAMPLES }, (_, index) => names[index * step] ?? '');
  return samples.sort()[SAMPLES >>> 1] ?? '';
}

function sortedRuns(from: string, names: string[]): Run[] {
  names.sort();
  const runs: Run[] = [];
  for (let at = 0; at < names.length; at += RUN_NAMES) {
    const part = names.slice(at, at + RUN_NAMES);
    const start = at === 0 ? from : (part[0] ?? '');
    runs.push({ from: start, names: part, isSorted: true, changes: null });
  }
  return runs;
}

/** The index of the first name above `name` in the sorted `names`. */
function firstAbove(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] ?? '') <= name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
