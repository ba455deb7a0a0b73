/**
 * Names in code-unit order, sorted only where somebody looks: incremental sorting.
 *
 * The names are cut into runs, each wholly before the next. The run that is read is sorted; a large
 * one is cut in two first, again and again, until the part that is read is small. So the first look
 * costs a few passes over all names, later ones next to nothing, and nobody waits for a whole sort.
 * Changes wait beside their run until it is read. Called by ChildPages.
 */
import { assert } from '@rookery/protocol';

/** Sorted as it is; a larger run is cut. */
const RUN_NAMES = 4096;
const SAMPLES = 31;
/** A cut that leaves more together than this part is no good: somebody chose the names for it. */
const LOPSIDED = 15 / 16;
/** A string and its place in an array. */
const NAME_BYTES = 40;

interface Run {
  /** Every name in it is this or above it, and below the next run's. */
  from: string;
  names: string[];
  isSorted: boolean;
  /** Since `names` was made: whether the name is there. */
  changes: Map<string, boolean> | null;
}

export class LazyOrder {
  /** In order; the first is from ''. */
  readonly #runs: Run[];
  #pendingCount = 0;
  #count: number;
  #bytes = 0;

  /** Takes the names over; each is there once. */
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
  /** What all this takes, about. */
  get bytes(): number {
    return this.#bytes;
  }
  /** Runs that the names are cut into; one of them may be empty. */
  get runCount(): number {
    return this.#runs.length;
  }
  /** Changes whose run was not read since. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  /** The name has come, or is gone. */
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

  /** The names above `after`, in order, as far as somebody reads; no change meanwhile. */
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
   * The index behind a run that was read. An empty one goes, and the next takes its range over: a
   * directory whose names wander, as a queue's, would leave more of them with every day.
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

  /** The index of the run where the name is, or would be: small and sorted. */
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

  /** In two about the middle, at a guess; when that fails, sorted and in as many as it takes. */
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

/** Where the first name above `name` is in the sorted `names`. */
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
