/**
 * One table of watches: which watchers each path has, and which paths each watcher has.
 *
 * Most paths have one watcher, which is then stored as a bare number and not as a set. Nothing is
 * stored for a path without a watcher or a watcher without a path. The cost of each watch is
 * counted by itself, whoever else watches the path.
 *
 * A closed watcher may have had millions of watches. It is notified of nothing from that moment on,
 * and its watches are released a few at a time; each counts until then. A table that is counted
 * together with others reports to their overlap, and one whose paths have known znodes reports when
 * a path is no longer watched. Called by WatchTable.
 */
import { Fifo } from '@rookery/protocol';
import type { OverlappingTable, WatchOverlap } from './watch-overlap.js';
import type { WatchedNodes } from './watched-nodes.js';

type Watcher = number;
type Watchers = Watcher | Set<Watcher>;

/** What a watcher watches, and its cost. */
interface Watched {
  readonly paths: Set<string>;
  bytes: number;
}

/** A watcher that is gone, and its watches that are not released yet. */
interface Leaving {
  readonly watcher: Watcher;
  readonly paths: IterableIterator<string>;
}

const NOBODY: ReadonlySet<Watcher> = new Set();
const NOTHING: readonly string[] = [];
/** The entries of a map and a set, with the spare room of both, and the header of a string. */
const WATCH_BYTES = 128;

/** Two more entries for a path whose znode is known (watched-nodes.ts). */
const NODE_BYTES = 96;

/** Estimates the memory of one watch, rather too high than too low: paths may be UTF-16. */
export function watchBytesOf(path: string): number {
  return WATCH_BYTES + 2 * path.length;
}

export class WatchedPaths implements OverlappingTable {
  readonly #overlap: WatchOverlap | null;
  readonly #nodes: WatchedNodes | null;
  readonly #byPath = new Map<string, Watchers>();
  readonly #byWatcher = new Map<Watcher, Watched>();
  readonly #leaving = new Fifo<Leaving>();
  #count = 0;
  /** Without the watches of watchers that are gone. */
  #liveCount = 0;
  #bytes = 0;
  /** Without the watches of watchers that are gone. */
  #liveBytes = 0;

  constructor(overlap: WatchOverlap | null = null, nodes: WatchedNodes | null = null) {
    this.#overlap = overlap;
    this.#nodes = nodes;
    overlap?.join(this);
  }

  /** Whether watches of watchers that are gone are still to be released. */
  get hasLeaving(): boolean {
    return this.#leaving.length > 0;
  }
  get watchCount(): number {
    return this.#count;
  }
  /** Without the watches of watchers that are gone. */
  get liveWatchCount(): number {
    return this.#liveCount;
  }
  get pathCount(): number {
    return this.#byPath.size;
  }
  get watcherCount(): number {
    return this.#byWatcher.size;
  }
  /** The sum of `costOf` over all watches. */
  get bytes(): number {
    return this.#bytes;
  }
  /** The same without the watches of watchers that are gone. */
  get liveBytes(): number {
    return this.#liveBytes;
  }
  /** The cost of one watch in bytes. */
  costOf(path: string): number {
    return watchBytesOf(path) + (this.#nodes === null ? 0 : NODE_BYTES);
  }
  bytesOf(watcher: Watcher): number {
    return this.#byWatcher.get(watcher)?.bytes ?? 0;
  }
  /** Lazy: it may continue after later changes, and then shows them. */
  watchers(): IterableIterator<Watcher> {
    return this.#byWatcher.keys();
  }

  /** The watchers of the path, in the order in which they began; valid until the next change. */
  watchersOf(path: string): Iterable<Watcher> {
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) {
      return NOBODY;
    }
    const all = typeof watchers === 'number' ? [watchers] : watchers;
    return this.hasLeaving ? [...all].filter((watcher) => this.#byWatcher.has(watcher)) : all;
  }
  /** The watched paths; lazy like `watchers`. */
  paths(): IterableIterator<string> {
    return this.#byPath.keys();
  }
  /** The paths that one watcher watches; lazy like `watchers`. */
  pathsOf(watcher: Watcher): Iterable<string> {
    return this.#byWatcher.get(watcher)?.paths ?? NOTHING;
  }

  has(path: string, watcher: Watcher): boolean {
    return this.#byWatcher.get(watcher)?.paths.has(path) ?? false;
  }
  /** Whether anybody watches the path, watchers that are gone included. */
  hasPath(path: string): boolean {
    return this.#byPath.has(path);
  }
  hasWatcher(watcher: Watcher): boolean {
    return this.#byWatcher.has(watcher);
  }

  add(path: string, watcher: Watcher): void {
    const bytes = this.costOf(path);
    const watched = this.#byWatcher.get(watcher);
    if (watched === undefined) {
      this.#byWatcher.set(watcher, { paths: new Set([path]), bytes });
      this.#overlap?.onWatcher(this, watcher, 1);
    } else if (watched.paths.has(path)) {
      return;
    } else {
      watched.paths.add(path);
      watched.bytes += bytes;
    }
    this.#count++;
    this.#liveCount++;
    this.#bytes += bytes;
    this.#liveBytes += bytes;
    this.#overlap?.onPair(this, path, watcher, 1);
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) {
      this.#byPath.set(path, watcher);
      this.#overlap?.onPath(this, path, 1);
    } else if (typeof watchers === 'number') {
      this.#byPath.set(path, new Set([watchers, watcher]));
    } else {
      watchers.add(watcher);
    }
  }

  remove(path: string, watcher: Watcher): boolean {
    if (!this.#forgetPath(path, watcher)) {
      return false;
    }
    this.#forgetWatcher(path, watcher);
    return true;
  }

  /** The watcher is gone for good. `release` removes what it had. */
  dismiss(watcher: Watcher): void {
    const watched = this.#byWatcher.get(watcher);
    if (watched === undefined) {
      return;
    }
    this.#byWatcher.delete(watcher);
    this.#liveCount -= watched.paths.size;
    this.#liveBytes -= watched.bytes;
    this.#overlap?.onDismissed(this, watcher);
    this.#leaving.push({ watcher, paths: watched.paths.values() });
  }

  /** Removes at most `max` watches of watchers that are gone; returns how many it removed. */
  release(max: number): number {
    let released = 0;
    for (let leaving = this.#leaving.first; leaving !== undefined; leaving = this.#leaving.first) {
      for (let at = leaving.paths.next(); ; at = leaving.paths.next()) {
        if (at.done === true) {
          this.#leaving.shift();
          break;
        }
        this.#forgetWatcher(at.value, leaving.watcher);
        this.#count--;
        this.#bytes -= this.costOf(at.value);
        released++;
        if (released === max) {
          return released;
        }
      }
    }
    return released;
  }

  /**
   * Removes every watch on the path; returns the watchers that had one, in the order in which they
   * were set.
   */
  takeAll(path: string): ReadonlySet<Watcher> {
    if (this.#byPath.size === 0) {
      return NOBODY;
    }
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) {
      return NOBODY;
    }
    this.#forgetLast(path);
    const taken = typeof watchers === 'number' ? new Set([watchers]) : watchers;
    for (const watcher of taken) {
      // The watch of a watcher that is gone counts until it is released.
      if (!this.#forgetPath(path, watcher)) {
        taken.delete(watcher);
      }
    }
    return taken;
  }

  #forgetPath(path: string, watcher: Watcher): boolean {
    const watched = this.#byWatcher.get(watcher);
    if (watched === undefined || !watched.paths.delete(path)) {
      return false;
    }
    const bytes = this.costOf(path);
    watched.bytes -= bytes;
    this.#count--;
    this.#liveCount--;
    this.#bytes -= bytes;
    this.#liveBytes -= bytes;
    this.#overlap?.onPair(this, path, watcher, -1);
    if (watched.paths.size === 0) {
      this.#byWatcher.delete(watcher);
      this.#overlap?.onWatcher(this, watcher, -1);
    }
    return true;
  }

  #forgetWatcher(path: string, watcher: Watcher): void {
    const watchers = this.#byPath.get(path);
    if (watchers === watcher) {
      this.#forgetLast(path);
    } else if (typeof watchers === 'object') {
      watchers.delete(watcher);
      if (watchers.size === 0) {
        this.#forgetLast(path);
      }
    }
  }

  /** Nobody watches the path any more. */
  #forgetLast(path: string): void {
    this.#byPath.delete(path);
    this.#nodes?.forget(path);
    this.#overlap?.onPath(this, path, -1);
  }
}
