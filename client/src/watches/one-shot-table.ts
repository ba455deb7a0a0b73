/**
 * One-shot watchers of one kind by server path. Owns which functions wait at a path and in which
 * order; never calls one. A path with one watcher, by far the usual case, costs a map entry and no
 * set. Always: no path without a watcher. Used by the watch registry.
 */
import type { Watcher } from '../api/values.js';

export class OneShotTable {
  readonly #byPath = new Map<string, Watcher | Set<Watcher>>();
  #size = 0;

  /** Pairs of a path and a watcher. */
  get size(): number {
    return this.#size;
  }

  has(path: string): boolean {
    return this.#byPath.has(path);
  }

  paths(): IterableIterator<string> {
    return this.#byPath.keys();
  }

  /** Nothing changes when it waits there already. */
  add(path: string, watcher: Watcher): void {
    const present = this.#byPath.get(path);
    if (present === undefined) {
      this.#byPath.set(path, watcher);
    } else if (present instanceof Set) {
      if (present.has(watcher)) return;
      present.add(watcher);
    } else {
      if (present === watcher) return;
      this.#byPath.set(path, new Set([present, watcher]));
    }
    this.#size += 1;
  }

  /** True when it waited there. */
  remove(path: string, watcher: Watcher): boolean {
    const present = this.#byPath.get(path);
    if (present instanceof Set) {
      if (!present.delete(watcher)) return false;
      if (present.size === 0) this.#byPath.delete(path);
    } else {
      if (present !== watcher) return false;
      this.#byPath.delete(path);
    }
    this.#size -= 1;
    return true;
  }

  /** Takes all watchers of the path off and adds them to `taken`, in the order they came. */
  takeInto(taken: Set<Watcher>, path: string): void {
    const present = this.#byPath.get(path);
    if (present === undefined) return;
    this.#byPath.delete(path);
    if (present instanceof Set) {
      this.#size -= present.size;
      for (const watcher of present) taken.add(watcher);
    } else {
      this.#size -= 1;
      taken.add(present);
    }
  }
}
