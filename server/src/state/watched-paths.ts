/**
 * Holds one table of watches: which watchers each path has, and which paths each watcher has.
 *
 * Most paths have one watcher, which is then stored as a bare number and not as a set. Nothing is
 * stored for a path without a watcher or a watcher without a path. The cost of each watch is
 * counted by itself, regardless of other watchers of the path.
 *
 * A closed watcher may have had millions of watches. It is notified of nothing from that moment on,
 * and its watches are released a few at a time; each counts until then. A table that is counted
 * together with others reports to their overlap, and one whose paths have known znodes reports when
 * a path is no longer watched. Called by WatchTable.
 */
import { Fifo } from '@rookery/protocol';
import { NONE } from './memory/node-store.js';

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

/** Two more entries for a path whose znode is known. */
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

  /** The path has no watcher any more. */
  #forgetLast(path: string): void {
    this.#byPath.delete(path);
    this.#nodes?.forget(path);
    this.#overlap?.onPath(this, path, -1);
  }
}

interface OverlappingTable {
  readonly pathCount: number;
  has(path: string, watcher: number): boolean;
  hasPath(path: string): boolean;
  hasWatcher(watcher: number): boolean;
}

/** The table has gained an entry or lost it. */
type Change = 1 | -1;

/**
 * Tracks what the tables of data watches have in common, so that their union can be counted without
 * a walk.
 *
 * One-shot, persistent and recursive watches are kept in separate tables, and a path, a watcher or
 * a pair of both may be in several of them. For each of these three kinds, the overlap is the sum,
 * over everything that is in any table, of the number of tables that contain it less one: the union
 * is the sum of the tables' own counts less the overlap. Each table reports what it gains and
 * loses. While the other tables are empty, as they mostly are, a report costs two comparisons.
 */
export class WatchOverlap {
  readonly #tables: OverlappingTable[] = [];
  #pairs = 0;
  /** For watchers that have any, so that a closed one takes its pairs along without a walk. */
  readonly #pairsByWatcher = new Map<number, number>();
  #paths = 0;
  #watchers = 0;

  get pairs(): number {
    return this.#pairs;
  }
  get paths(): number {
    return this.#paths;
  }
  get watchers(): number {
    return this.#watchers;
  }

  /** Each table calls it once, while it is empty. */
  join(table: OverlappingTable): void {
    this.#tables.push(table);
  }

  onPair(table: OverlappingTable, path: string, watcher: number, change: Change): void {
    for (const other of this.#tables) {
      if (other === table || other.pathCount === 0) continue;
      if (!other.has(path, watcher)) continue;
      this.#pairs += change;
      const own = (this.#pairsByWatcher.get(watcher) ?? 0) + change;
      if (own === 0) this.#pairsByWatcher.delete(watcher);
      else this.#pairsByWatcher.set(watcher, own);
      return;
    }
  }

  onPath(table: OverlappingTable, path: string, change: Change): void {
    for (const other of this.#tables) {
      if (other === table || other.pathCount === 0) continue;
      if (!other.hasPath(path)) continue;
      this.#paths += change;
      return;
    }
  }

  onWatcher(table: OverlappingTable, watcher: number, change: Change): void {
    for (const other of this.#tables) {
      if (other === table || other.pathCount === 0) continue;
      if (!other.hasWatcher(watcher)) continue;
      this.#watchers += change;
      return;
    }
  }

  /**
   * The watcher is gone from this table, and will be gone from all others before the next report.
   */
  onDismissed(table: OverlappingTable, watcher: number): void {
    this.onWatcher(table, watcher, -1);
    this.#pairs -= this.#pairsByWatcher.get(watcher) ?? 0;
    this.#pairsByWatcher.delete(watcher);
  }
}

/** The state whose changes are reported. */
export interface WatchedTree {
  /** NONE if there is no znode. */
  find(path: string): number;
  /** NONE for the root. */
  parent(node: number): number;
}

/**
 * Knows which znodes are at paths that are watched recursively.
 *
 * A change asks this about all its ancestors. They are found from znode to parent, one number each:
 * cutting their paths out of the path of the change would read every character of it once for each
 * of them. A path that is watched has its znode here as soon as both exist.
 */
export class WatchedNodes {
  readonly #paths = new Map<number, string>();
  readonly #nodes = new Map<string, number>();

  /** Adds a path that is watched, if it has a znode. */
  put(path: string, node: number): void {
    if (node === NONE) return;
    this.#paths.set(node, path);
    this.#nodes.set(path, node);
  }

  /** The path has no watcher any more, or its znode is gone. */
  forget(path: string): void {
    const node = this.#nodes.get(path);
    if (node === undefined) return;
    this.#nodes.delete(path);
    this.#paths.delete(node);
  }

  /** All znodes are different from now on. */
  clear(): void {
    this.#paths.clear();
    this.#nodes.clear();
  }

  /** Yields those of a znode and its ancestors that are watched, from below. */
  *pathsFrom(node: number, tree: WatchedTree): Generator<string> {
    if (this.#paths.size === 0) return;
    for (let at = node; at !== NONE; at = tree.parent(at)) {
      const path = this.#paths.get(at);
      if (path !== undefined) yield path;
    }
  }
}
