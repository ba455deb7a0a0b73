/**
 * A tree of paths alone, for tests of watches.
 *
 * Every path has a znode until it is deleted. A path that is created again gets the number of a
 * deleted one, as in a real tree.
 */
import type { WatchedTree } from '../../state/watched-paths.js';

const NONE = -1;

export class PathTree implements WatchedTree {
  readonly #nodes = new Map<string, number>();
  readonly #paths: string[] = [];
  readonly #free: number[] = [];
  readonly #gone = new Set<string>();

  find(path: string): number {
    if (this.#gone.has(path)) return NONE;
    const known = this.#nodes.get(path);
    if (known !== undefined) return known;
    const node = this.#free.pop() ?? this.#paths.length;
    this.#nodes.set(path, node);
    this.#paths[node] = path;
    return node;
  }

  parent(node: number): number {
    const path = this.#paths[node] ?? '/';
    return path === '/' ? NONE : this.find(path.slice(0, path.lastIndexOf('/')) || '/');
  }

  create(path: string): void {
    this.#gone.delete(path);
  }

  delete(path: string): void {
    const node = this.find(path);
    this.#gone.add(path);
    this.#nodes.delete(path);
    if (node !== NONE) this.#free.push(node);
  }
}
