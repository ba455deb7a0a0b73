/**
 * Makes pages of the names below a node, in code-unit order.
 *
 * The names of a small directory are sorted for each page. Those of a large one are sorted some
 * ten thousand at a time: a pass over its rows selects the names around the page, which become a
 * window. The pages after it come from that window, which follows changes, until one goes beyond
 * its end. Windows are bounded in number, in names, in characters and in changes, and none of them
 * is replicated. Called by Tree through Listings, which reports changes.
 */
import { assert } from '@rookery/protocol';
import { FLAG, INT, NONE, type NodeStore } from './node-store.js';
import type { KeyedRandom } from './path-hash.js';
import type { Payloads } from './payloads.js';

/** A directory with fewer names is small. */
const LARGE_FROM = 1000;
const WINDOW_NAMES = 1 << 14;
/** More than a page has, so that a window that was cut short by it still holds a page. */
const WINDOW_CHARS_MAX = 1 << 22;
/** A selection is cut short once it has this many times the names that are wanted. */
const CUT_FACTOR = 4;
const WINDOWS_MAX = 4;
/** A window is dropped after this many changes since a page was last made of it. */
const CHANGES_MAX = 1000;
/** The rows that are looked at to guess where a window ends. */
const ROWS_SAMPLED = 1024;
/** Guesses are too far by this factor, because a window that is too short needs a second pass. */
const GUESS_MARGIN = 1.5;
/**
 * With at most this many rows for each child, all rows are read in the order of memory. A row then
 * takes about two thirds of the time that it takes to follow the link to it.
 */
const ROWS_PER_CHILD = 1.5;
/** A name of one character as a jute string. */
const NAME_BYTES_MIN = 5;

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
  readonly #store: NodeStore;
  readonly #payloads: Payloads;
  readonly #random: KeyedRandom;
  /** In the order of use, the most recently used window last. */
  #windows: Window[] = [];

  constructor(store: NodeStore, payloads: Payloads, random: KeyedRandom) {
    this.#store = store;
    this.#payloads = payloads;
    this.#random = random;
  }

  /** The child was added, or is about to be removed: it has its name during the call. */
  changed(directory: number, child: number, exists: boolean): void {
    if (!this.#windows.some((window) => window.directory === directory)) return;
    const name = this.#payloads.name(child);
    this.#windows = this.#windows.filter(
      (window) => window.directory !== directory || window.change(name, exists),
    );
  }

  /** The directory was deleted. */
  forget(directory: number): void {
    if (this.#windows.length === 0) return;
    this.#windows = this.#windows.filter((window) => window.directory !== directory);
  }

  page(directory: number, asked: PageRequest): Page {
    const { startAfter } = asked;
    if (this.#store.int(directory, INT.childCount) < LARGE_FROM) {
      return required(this.#window(directory, startAfter, LARGE_FROM, null).page(asked));
    }
    const kept = this.#windows.find((one) => one.directory === directory && one.has(startAfter));
    const page = kept?.page(asked) ?? null;
    if (kept !== undefined) this.#windows.splice(this.#windows.indexOf(kept), 1);
    if (kept === undefined || page === null) return this.#firstPage(directory, asked);
    this.#windows.push(kept);
    return page;
  }

  /** Makes the window of a page; if its guessed end is too near, without a guess. */
  #firstPage(directory: number, asked: PageRequest): Page {
    const { startAfter, limit, bytesMax } = asked;
    const wanted = Math.max(WINDOW_NAMES, Math.min(limit, bytesMax / NAME_BYTES_MIN) + 1);
    const end = this.#guessedEnd(directory, startAfter, GUESS_MARGIN * wanted);
    let window = this.#window(directory, startAfter, wanted, end);
    let page = window.page(asked);
    if (page === null) {
      window = this.#window(directory, startAfter, wanted, null);
      page = required(window.page(asked));
    }
    this.#windows.push(window);
    if (this.#windows.length > WINDOWS_MAX) this.#windows.shift();
    return page;
  }

  /** A name that most likely has `count` others between `startAfter` and itself; null for none. */
  #guessedEnd(directory: number, startAfter: string, count: number): string | null {
    const store = this.#store;
    const behind: string[] = [];
    let sampled = 0;
    for (let left = ROWS_SAMPLED; left > 0; left--) {
      const row = this.#random.below(store.limit);
      if (!isChild(store, row, directory)) continue;
      sampled += 1;
      const name = this.#payloads.name(row);
      if (name > startAfter) behind.push(name);
    }
    const part = count / store.int(directory, INT.childCount);
    return behind.sort()[Math.ceil(part * sampled)] ?? null;
  }

  #window(directory: number, after: string, wanted: number, end: string | null): Window {
    const store = this.#store;
    const selection = new Selection(this.#payloads, after, wanted, end);
    const count = store.int(directory, INT.childCount);
    if (count >= LARGE_FROM && store.limit <= ROWS_PER_CHILD * count) {
      for (let row = 0; row < store.limit; row++) {
        if (isChild(store, row, directory)) selection.add(row);
      }
    } else {
      let child = store.int(directory, INT.firstChild);
      while (child !== NONE) {
        selection.add(child);
        child = store.int(child, INT.nextSibling);
      }
    }
    return new Window(directory, after, selection.names.sort(), selection.end);
  }
}

function required(page: Page | null): Page {
  assert(page !== null, 'a window without a guessed end holds its first page');
  return page;
}

function isChild(store: NodeStore, row: number, parent: number): boolean {
  const ints = store.intPage(row);
  const base = store.intBase(row);
  return ints[base + INT.parent] === parent && ((ints[base + INT.shape] ?? 0) & FLAG.free) === 0;
}

/** Selects the names after one and up to another, which moves nearer when they are too many. */
class Selection {
  names: string[] = [];
  /** The last name that is selected; null while no name behind it was met. */
  end: string | null = null;
  readonly #payloads: Payloads;
  readonly #after: string;
  readonly #wanted: number;
  #bound: string | null;
  #chars = 0;

  constructor(payloads: Payloads, after: string, wanted: number, bound: string | null) {
    this.#payloads = payloads;
    this.#after = after;
    this.#wanted = wanted;
    this.#bound = bound;
  }

  add(child: number): void {
    const payloads = this.#payloads;
    if (this.#bound !== null && payloads.compareName(child, this.#bound) > 0) {
      this.end = this.#bound;
      return;
    }
    if (this.#after !== '' && payloads.compareName(child, this.#after) <= 0) return;
    const name = payloads.name(child);
    this.names.push(name);
    this.#chars += name.length;
    const isFull = this.names.length > CUT_FACTOR * this.#wanted || this.#chars > WINDOW_CHARS_MAX;
    if (isFull && this.names.length > 1) this.#cut();
  }

  #cut(): void {
    const sorted = this.names.sort();
    let count = 0;
    this.#chars = 0;
    for (; count < this.#wanted && this.#chars < WINDOW_CHARS_MAX / 2; count++) {
      this.#chars += sorted[count]?.length ?? 0;
    }
    if (count >= sorted.length) return;
    this.names = sorted.slice(0, count);
    this.#bound = sorted[count - 1] ?? null;
    this.end = this.#bound;
  }
}

/** The sorted names of a directory after `#after`: those up to `#end`, or all if it is null. */
class Window {
  readonly directory: number;
  readonly #after: string;
  readonly #end: string | null;
  readonly #names: string[];
  #changes = 0;

  constructor(directory: number, after: string, names: string[], end: string | null) {
    this.directory = directory;
    this.#after = after;
    this.#names = names;
    this.#end = end;
  }

  /** Whether the name right behind this one is here, if there is any. */
  has(name: string): boolean {
    return name >= this.#after && (this.#end === null || name < this.#end);
  }

  /** Null if the page may go on behind the window. */
  page({ startAfter, limit, bytesMax }: PageRequest): Page | null {
    this.#changes = 0;
    const start = this.#countUpTo(startAfter);
    let bytes = 0;
    for (let at = start; at < this.#names.length; at++) {
      bytes += 4 + Buffer.byteLength(this.#names[at] ?? '');
      if (at - start === limit || (bytes > bytesMax && at > start)) {
        return { names: this.#names.slice(start, at), more: true };
      }
    }
    return this.#end === null ? { names: this.#names.slice(start), more: false } : null;
  }

  /** Returns false if the window is no longer worth its changes. */
  change(name: string, exists: boolean): boolean {
    this.#changes += 1;
    if (this.#changes > CHANGES_MAX) return false;
    if (name <= this.#after || (this.#end !== null && name > this.#end)) return true;
    const at = this.#countUpTo(name);
    if (exists) this.#names.splice(at, 0, name);
    else this.#names.splice(at - 1, 1);
    return true;
  }

  /** The number of names that are not above this one. */
  #countUpTo(name: string): number {
    const names = this.#names;
    let low = 0;
    let high = names.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((names[middle] ?? '') <= name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
