/**
 * Persistent watches of one mode by server path. Each is a registration of its own, told apart by
 * identity, so that one function may watch a path through two handles and lose one of them.
 * Never calls a watcher. Always: no path without a watch. Used by the watch registry.
 */
import type { Watcher } from '../api/values.js';

export interface PersistentWatch {
  /** The server's path, chroot included. */
  readonly path: string;
  readonly recursive: boolean;
  readonly watcher: Watcher;
}

export class PersistentTable {
  readonly #byPath = new Map<string, Set<PersistentWatch>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  hasPath(path: string): boolean {
    return this.#byPath.has(path);
  }

  has(watch: PersistentWatch): boolean {
    return this.#byPath.get(watch.path)?.has(watch) === true;
  }

  paths(): IterableIterator<string> {
    return this.#byPath.keys();
  }

  on(path: string): Iterable<PersistentWatch> {
    return this.#byPath.get(path) ?? [];
  }

  *all(): Generator<PersistentWatch> {
    for (const watches of this.#byPath.values()) yield* watches;
  }

  add(watch: PersistentWatch): void {
    const present = this.#byPath.get(watch.path);
    if (present === undefined) this.#byPath.set(watch.path, new Set([watch]));
    else present.add(watch);
    this.#size += 1;
  }

  /** True when it was there. */
  remove(watch: PersistentWatch): boolean {
    const present = this.#byPath.get(watch.path);
    if (present?.delete(watch) !== true) return false;
    if (present.size === 0) this.#byPath.delete(watch.path);
    this.#size -= 1;
    return true;
  }
}
