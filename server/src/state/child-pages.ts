/**
 * Pages of the names below a node, in code-unit order.
 *
 * The tree keeps children in no order. A small directory is sorted for each page; of a large one
 * the sorted names are kept, with the changes since then beside them, which the next page merges
 * in; of a huge one each page picks its names out of all, without sorting the rest. What is kept
 * is bounded in directories, in names and in changes, and none of it is replicated. Called by Tree,
 * which says what changes.
 */

/** Directories below this size are sorted for each page. */
const KEPT_FROM = 1000;
/** Sorting more names than this at once would hold up everything else for too long. */
const KEPT_NAMES_MAX = 250_000;
const KEPT_DIRECTORIES_MAX = 4;
/** A list with more changes than a quarter of its names, and this many, is made anew instead. */
const CHANGES_MIN = 1000;

export interface PageRequest {
  /** Names up to this one are left out; '' leaves out none. */
  readonly startAfter: string;
  /** At least 1. */
  readonly limit: number;
  /** Of the page's names as jute strings; the first name is given whatever its size. */
  readonly bytesMax: number;
}
export interface Page {
  readonly names: readonly string[];
  /** There are names behind the last one. */
  readonly more: boolean;
}

interface Kept {
  names: readonly string[];
  /** By name, since `names` was made: whether it is there. */
  readonly changes: Map<string, boolean>;
}

export class ChildPages {
  /** The one used last comes last. */
  readonly #kept = new Map<number, Kept>();

  /** Whether somebody lists the directory page by page: then `changed` wants to know. */
  keeps(directory: number): boolean {
    return this.#kept.size > 0 && this.#kept.has(directory);
  }

  changed(directory: number, name: string, exists: boolean): void {
    const kept = this.#kept.get(directory);
    if (kept === undefined) {
      return;
    }
    kept.changes.set(name, exists);
    if (kept.changes.size > CHANGES_MIN + kept.names.length / 4) {
      this.#kept.delete(directory);
    }
  }

  /** The directory is gone. */
  forget(directory: number): void {
    this.#kept.delete(directory);
  }

  /** `list` makes the names of the directory, in any order, `count` many. */
  page(
    directory: { readonly node: number; readonly count: number; list(): string[] },
    asked: PageRequest,
  ): Page {
    const { node, count } = directory;
    if (count < KEPT_FROM) {
      return cut(directory.list().sort(), asked);
    }
    if (count > KEPT_NAMES_MAX) {
      this.#kept.delete(node);
      return cut(pick(directory.list(), asked), asked);
    }
    const kept = this.#kept.get(node) ?? { names: directory.list().sort(), changes: new Map() };
    this.#kept.delete(node);
    this.#kept.set(node, kept);
    mergeChanges(kept);
    for (const other of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_DIRECTORIES_MAX) {
        break;
      }
      this.#kept.delete(other);
    }
    return cut(kept.names, asked);
  }
}

function cut(names: readonly string[], asked: PageRequest): Page {
  const { startAfter, limit, bytesMax } = asked;
  const start = startAfter === '' ? 0 : firstAbove(names, startAfter);
  let bytes = 0;
  let end = start;
  while (end < names.length && end - start < limit) {
    bytes += 4 + Buffer.byteLength(names[end] ?? '');
    if (bytes > bytesMax && end > start) {
      break;
    }
    end++;
  }
  return { names: names.slice(start, end), more: end < names.length };
}

/** In order, the first names above `startAfter`: one more than the limit, if there are. */
function pick(names: readonly string[], { startAfter, limit, bytesMax }: PageRequest): string[] {
  // A name takes 5 bytes at least.
  const wanted = Math.min(limit, Math.ceil(bytesMax / 5)) + 1;
  let picked: string[] = [];
  let bound: string | null = null;
  for (const name of names) {
    if (name <= startAfter || (bound !== null && name > bound)) {
      continue;
    }
    picked.push(name);
    if (picked.length === 2 * wanted) {
      picked = picked.sort().slice(0, wanted);
      bound = picked[wanted - 1] ?? null;
    }
  }
  return picked.sort().slice(0, wanted);
}

function mergeChanges(kept: Kept): void {
  if (kept.changes.size === 0) {
    return;
  }
  const { names } = kept;
  const merged: string[] = [];
  let from = 0;
  for (const name of [...kept.changes.keys()].sort()) {
    const at = firstAbove(names, name);
    const before = names[at - 1] === name ? at - 1 : at;
    for (; from < before; from++) {
      merged.push(names[from] ?? '');
    }
    if (kept.changes.get(name) === true) {
      merged.push(name);
    }
    from = at;
  }
  for (; from < names.length; from++) {
    merged.push(names[from] ?? '');
  }
  kept.names = merged;
  kept.changes.clear();
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
