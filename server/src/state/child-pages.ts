/**
 * Makes pages of the names below a node, in code-unit order.
 *
 * The tree keeps children in no order. A small directory is sorted for each page. The first short
 * pages of a large one are selected from its names without sorting the rest, so a completion or the
 * top of a list is answered without an order of all names. The names are kept, sorted as far as
 * pages were read, once somebody asks for a long page, reads on from where a short one ended, or
 * asks again and again. For a directory that is too large to be kept, every page is selected. What
 * is kept is bounded in directories, in bytes and in changes, and none of it is replicated. Called
 * by Tree, which reports changes.
 */
import { LazyOrder, NAME_BYTES } from './lazy-order.js';
import type { NameSelection } from './name-selection.js';

/** Directories with fewer names are sorted for each page. */
const KEPT_FROM = 1000;
/** The bound over all directories: more than two million short names. */
const KEPT_BYTES_MAX = 128 << 20;
const KEPT_DIRECTORIES_MAX = 4;
/** The directories of which it is known where short pages ended. */
const ENDS_MAX = 64;
/** The short pages of a directory that are selected before its names are kept. */
const SELECTED_MAX = 8;
/** A directory with longer names is never so large that its order matters. */
const END_CHARACTERS_MAX = 1000;
/** The names in the longest page that is selected although all names could be kept. */
const SHORT_PAGE = 1000;
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
  /** The number of its names. */
  readonly count: number;
  /** Makes all names, in any order. */
  list(): string[];
  /** Makes those that are wanted, in code-unit order. */
  select(wanted: NameSelection): string[];
}

export class ChildPages {
  readonly #bytesMax: number;
  /** The last names of the short pages that were selected; the newest directory is last. */
  readonly #ends = new Map<number, readonly string[]>();
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
    this.#ends.delete(directory);
  }

  page(directory: PagedDirectory, asked: PageRequest): Page {
    const { node, count } = directory;
    if (count < KEPT_FROM) {
      return cut(directory.list().sort(), asked);
    }
    const known = this.#kept.get(node);
    this.#kept.delete(node);
    const isTooLarge = (known?.bytes ?? count * NAME_BYTES) > this.#bytesMax;
    if (isTooLarge || (known === undefined && this.#isShort(node, asked))) {
      return this.#selected(directory, asked);
    }
    const kept = known ?? new LazyOrder(directory.list());
    if (kept.bytes > this.#bytesMax) return this.#selected(directory, asked);
    this.#ends.delete(node);
    this.#kept.set(node, kept);
    this.#makeRoom();
    return cut(kept.above(asked.startAfter), asked);
  }

  /** Whether nobody seems to read the whole directory. */
  #isShort(node: number, { startAfter, limit }: PageRequest): boolean {
    const ends = this.#ends.get(node) ?? [];
    const readsOn = startAfter !== '' && ends.includes(startAfter);
    return limit <= SHORT_PAGE && ends.length < SELECTED_MAX && !readsOn;
  }

  #selected(directory: PagedDirectory, asked: PageRequest): Page {
    const { startAfter, limit, bytesMax } = asked;
    // A name takes at least 5 bytes; one more tells whether there are further ones.
    const wanted = Math.min(limit, Math.ceil(bytesMax / 5)) + 1;
    const page = cut(directory.select({ startAfter, limit: wanted }), asked);
    const last = page.names.at(-1) ?? '';
    const ends = [...(this.#ends.get(directory.node) ?? [])];
    ends.push(last.length <= END_CHARACTERS_MAX ? last : '');
    this.#ends.delete(directory.node);
    this.#ends.set(directory.node, ends.slice(-SELECTED_MAX));
    for (const node of this.#ends.keys()) {
      if (this.#ends.size <= ENDS_MAX) break;
      this.#ends.delete(node);
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
