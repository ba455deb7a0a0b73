/**
 * Knows which znodes are at paths that somebody watches recursively.
 *
 * A change asks this about all its ancestors. They are found from znode to parent, one number each:
 * cutting their paths out of the path of the change would read every character of it once for each
 * of them. A path that is watched has its znode here as soon as both exist. Called by WatchTable.
 */
import { NONE } from './memory/node-store.js';

/** The state whose changes are reported. */
export interface WatchedTree {
  /** NONE if there is no znode. */
  find(path: string): number;
  /** NONE for the root. */
  parent(node: number): number;
}

export class WatchedNodes {
  readonly #paths = new Map<number, string>();
  readonly #nodes = new Map<string, number>();

  /** Adds a path that is watched, if it has a znode. */
  put(path: string, node: number): void {
    if (node === NONE) return;
    this.#paths.set(node, path);
    this.#nodes.set(path, node);
  }

  /** Nobody watches the path any more, or its znode is gone. */
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
