/**
 * The watches at each server path, for watchers of reads of one kind or persistent watches of one
 * mode. Entries are told apart by identity, and are never called here. A path with a single entry,
 * by far the usual case, costs one slot of a map and no set. A path without entries is not stored.
 * Used by the registry.
 */
export class PathTable<Entry extends object> {
  readonly #byPath = new Map<string, Entry | Set<Entry>>();
  #size = 0;

  /** The number of pairs of a path and an entry. */
  get size(): number {
    return this.#size;
  }

  hasPath(path: string): boolean {
    return this.#byPath.has(path);
  }

  has(path: string, entry: Entry): boolean {
    const present = this.#byPath.get(path);
    return present === entry || (present instanceof Set && present.has(entry));
  }

  paths(): IterableIterator<string> {
    return this.#byPath.keys();
  }

  /** A copy of the entries at a path, in the order in which they were added. */
  on(path: string): Entry[] {
    const present = this.#byPath.get(path);
    if (present === undefined) return [];
    return present instanceof Set ? [...present] : [present];
  }

  /** A copy of all entries, path by path. */
  all(): Entry[] {
    return [...this.#byPath.keys()].flatMap((path) => this.on(path));
  }

  /** Adds an entry, unless it is already there. */
  add(path: string, entry: Entry): void {
    const present = this.#byPath.get(path);
    if (present === entry) return;
    if (present === undefined) {
      this.#byPath.set(path, entry);
    } else if (present instanceof Set) {
      if (present.has(entry)) return;
      present.add(entry);
    } else {
      this.#byPath.set(path, new Set([present, entry]));
    }
    this.#size += 1;
  }

  /** Removes an entry. Returns whether it was there. */
  remove(path: string, entry: Entry): boolean {
    const present = this.#byPath.get(path);
    if (present instanceof Set) {
      if (!present.delete(entry)) return false;
      if (present.size === 0) this.#byPath.delete(path);
    } else {
      if (present !== entry) return false;
      this.#byPath.delete(path);
    }
    this.#size -= 1;
    return true;
  }

  /** Removes all entries at the path and adds them to `taken`. */
  takeInto(taken: Set<Entry>, path: string): void {
    for (const entry of this.on(path)) {
      this.remove(path, entry);
      taken.add(entry);
    }
  }
}
