/**
 * One table of watches: which watchers each path has, and which paths each watcher has.
 *
 * Most paths have one watcher, which is then kept as a bare number and not as a set. Nothing is
 * kept for a path without a watcher or a watcher without a path. Counts what the watches cost, each
 * by itself, whoever else has the path. Called by WatchTable.
 */
type Watcher = number;
type Watchers = Watcher | Set<Watcher>;

/** What a watcher watches, and what that costs. */
interface Watched {
  readonly paths: Set<string>;
  bytes: number;
}

const NOBODY: ReadonlySet<Watcher> = new Set();
/** Entries of a map and a set, with the room that both keep, and the head of a string. */
const WATCH_BYTES = 128;

/** What one watch costs of memory, at a guess that is rather too high: paths may be UTF-16. */
export function watchBytesOf(path: string): number {
  return WATCH_BYTES + 2 * path.length;
}

export class WatchedPaths {
  readonly #byPath = new Map<string, Watchers>();
  readonly #byWatcher = new Map<Watcher, Watched>();
  #count = 0;
  #bytes = 0;

  get watchCount(): number {
    return this.#count;
  }
  get pathCount(): number {
    return this.#byPath.size;
  }
  get watcherCount(): number {
    return this.#byWatcher.size;
  }
  /** Of all watches, by `watchBytesOf`. */
  get bytes(): number {
    return this.#bytes;
  }
  bytesOf(watcher: Watcher): number {
    return this.#byWatcher.get(watcher)?.bytes ?? 0;
  }
  watchers(): IterableIterator<Watcher> {
    return this.#byWatcher.keys();
  }

  /** Who watches the path, in the order in which they began; valid until the next change. */
  watchersOf(path: string): Iterable<Watcher> {
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) {
      return NOBODY;
    }
    return typeof watchers === 'number' ? [watchers] : watchers;
  }
  /** The watched paths. */
  paths(): IterableIterator<string> {
    return this.#byPath.keys();
  }

  has(path: string, watcher: Watcher): boolean {
    return this.#byWatcher.get(watcher)?.paths.has(path) ?? false;
  }

  add(path: string, watcher: Watcher): void {
    const bytes = watchBytesOf(path);
    const watched = this.#byWatcher.get(watcher);
    if (watched === undefined) {
      this.#byWatcher.set(watcher, { paths: new Set([path]), bytes });
    } else if (watched.paths.has(path)) {
      return;
    } else {
      watched.paths.add(path);
      watched.bytes += bytes;
    }
    this.#count++;
    this.#bytes += bytes;
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) {
      this.#byPath.set(path, watcher);
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

  removeWatcher(watcher: Watcher): void {
    const watched = this.#byWatcher.get(watcher);
    if (watched === undefined) {
      return;
    }
    for (const path of watched.paths) {
      this.#forgetWatcher(path, watcher);
    }
    this.#count -= watched.paths.size;
    this.#bytes -= watched.bytes;
    this.#byWatcher.delete(watcher);
  }

  /** Removes every watch on the path; returns who had one, in the order they were set. */
  takeAll(path: string): ReadonlySet<Watcher> {
    if (this.#byPath.size === 0) {
      return NOBODY;
    }
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) {
      return NOBODY;
    }
    this.#byPath.delete(path);
    const taken = typeof watchers === 'number' ? new Set([watchers]) : watchers;
    for (const watcher of taken) {
      this.#forgetPath(path, watcher);
    }
    return taken;
  }

  #forgetPath(path: string, watcher: Watcher): boolean {
    const watched = this.#byWatcher.get(watcher);
    if (watched === undefined || !watched.paths.delete(path)) {
      return false;
    }
    const bytes = watchBytesOf(path);
    watched.bytes -= bytes;
    this.#count--;
    this.#bytes -= bytes;
    if (watched.paths.size === 0) {
      this.#byWatcher.delete(watcher);
    }
    return true;
  }

  #forgetWatcher(path: string, watcher: Watcher): void {
    const watchers = this.#byPath.get(path);
    if (watchers === watcher) {
      this.#byPath.delete(path);
    } else if (typeof watchers === 'object') {
      watchers.delete(watcher);
      if (watchers.size === 0) {
        this.#byPath.delete(path);
      }
    }
  }
}
