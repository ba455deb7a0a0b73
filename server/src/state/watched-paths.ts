/**
 * One table of watches: which watchers each path has, and which paths each watcher has.
 *
 * Most paths have one watcher, which is then kept as a bare number and not as a set. Nothing is
 * kept for a path without a watcher or a watcher without a path. Called by WatchTable.
 */
type Watcher = number;
type Watchers = Watcher | Set<Watcher>;

const NOBODY: ReadonlySet<Watcher> = new Set();

export class WatchedPaths {
  readonly #byPath = new Map<string, Watchers>();
  readonly #byWatcher = new Map<Watcher, Set<string>>();
  #count = 0;

  get watchCount(): number {
    return this.#count;
  }
  get pathCount(): number {
    return this.#byPath.size;
  }
  get watcherCount(): number {
    return this.#byWatcher.size;
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
    return this.#byWatcher.get(watcher)?.has(path) ?? false;
  }

  add(path: string, watcher: Watcher): void {
    const paths = this.#byWatcher.get(watcher);
    if (paths === undefined) {
      this.#byWatcher.set(watcher, new Set([path]));
    } else if (paths.has(path)) {
      return;
    } else {
      paths.add(path);
    }
    this.#count++;
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
    for (const path of this.#byWatcher.get(watcher) ?? []) {
      this.#forgetWatcher(path, watcher);
      this.#count--;
    }
    this.#byWatcher.delete(watcher);
  }

  /** Removes every watch on the path; returns who had one, in the order they were set. */
  takeAll(path: string): ReadonlySet<Watcher> {
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
    const paths = this.#byWatcher.get(watcher);
    if (paths === undefined || !paths.delete(path)) {
      return false;
    }
    this.#count--;
    if (paths.size === 0) {
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
