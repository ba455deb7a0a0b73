/**
 * Makes pages of the names below a node, in code-unit order.
 *
 * The tree keeps children in no order. A small directory is sorted for each page. The names of a
 * large one are kept, sorted as far as pages were read. For a directory that is too large to be
 * kept, each page selects its names from all of them without sorting the rest. What is kept is
 * bounded in directories, in bytes and in changes, and none of it is replicated. Called by Tree,
 * which reports changes.
 */
import { LazyOrder } from './lazy-order.js';

/** Directories with fewer names are sorted for each page. */
const KEPT_FROM = 1000;
/** The bound over all directories: more than two million short names. */
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

export class ChildPages {
  readonly #bytesMax: number;
  /** In the order of use, the most recently used directory last. */
  readonly #kept = new Map<number, LazyOrder>();

  constructor(bytesMax = KEPT_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Whether a client lists the directory page by page, in which case `changed` must be called. */
  keeps(directory: number): boolean {
    return this.#kept.size > 0 && this.#kept.has(directory);
  }

  changed(directory: number, name: string, exists: boolean): void {
    const kept = this.#kept.get(directory);
    if (kept === undefined) {
      return;
    }
    kept.change(name, exists);
    if (kept.pendingCount > CHANGES_MIN + kept.count / 4) {
      this.#kept.delete(directory);
    }
  }

  /** The directory was deleted. */
  forget(directory: number): void {
    this.#kept.delete(directory);
  }

  /** `list` makes the names of the directory, `count` of them, in any order. */
  page(
    directory: { readonly node: number; readonly count: number; list(): string[] },
    asked: PageRequest,
  ): Page {
    const { node, count } = directory;
    if (count < KEPT_FROM) {
      return cut(directory.list().sort(), asked);
    }
    const known = this.#kept.get(node);
    this.#kept.delete(node);
    const names = known === undefined ? directory.list() : [];
    const kept = known ?? new LazyOrder(names);
    if (kept.bytes > this.#bytesMax) {
      return cut(pick(known === undefined ? names : directory.list(), asked), asked);
    }
    this.#kept.set(node, kept);
    this.#makeRoom();
    return cut(kept.above(asked.startAfter), asked);
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

/** `names` are in order and may include names up to `startAfter`. */
function cut(names: Iterable<string>, asked: PageRequest): Page {
  const { startAfter, limit, bytesMax } = asked;
  const page: string[] = [];
  let bytes = 0;
  for (const name of names) {
    if (name <= startAfter) {
      continue;
    }
    bytes += 4 + Buffer.byteLength(name);
    if (page.length === limit || (bytes > bytesMax && page.length > 0)) {
      return { names: page, more: true };
    }
    page.push(name);
  }
  return { names: page, more: false };
}

/**
 * Returns the first names above `startAfter`, in order: one more than the limit, if there are so
 * many.
 */
function pick(names: readonly string[], { startAfter, limit, bytesMax }: PageRequest): string[] {
  // A name takes at least 5 bytes.
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
