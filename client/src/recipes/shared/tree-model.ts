/**
 * The content of a subtree's cache, and how each read of a znode changes it. It is pure except that
 * it reports changes, in an order in which parents are created before their children and deleted
 * after them (CURATOR-324).
 *
 * The parent of each znode in the model is in the model, up to the root. A znode is never replaced
 * by an older read. Used by the tree follower.
 */
import { joinPath, nameOf, parentOf } from '@rookery/protocol';
import type { Node, Stat } from '../../api/values.js';
import type { CachedNode, CacheEvent } from './cache-values.js';

interface Entry {
  node: CachedNode;
  /** The names of the children; null if there are none, as for most znodes. */
  children: Set<string> | null;
}

export class TreeModel {
  readonly root: string;
  readonly #tell: (event: CacheEvent) => void;
  readonly #entries = new Map<string, Entry>();

  constructor(root: string, tell: (event: CacheEvent) => void) {
    this.root = root;
    this.#tell = tell;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  get(path: string): CachedNode | null {
    return this.#entries.get(path)?.node ?? null;
  }

  /** The names of the children in the model. */
  childrenOf(path: string): ReadonlySet<string> {
    return this.#entries.get(path)?.children ?? NONE;
  }

  paths(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** Parents come first. */
  snapshot(): Map<string, CachedNode> {
    return new Map([...this.#entries].map(([path, { node }]) => [path, node]));
  }

  /**
   * Applies the result of a read, null if there is no such znode. Returns true if the znode, in
   * this incarnation, is new in the model, so that its children are unknown.
   */
  take(path: string, seen: Node | null): boolean {
    const entry = this.#entries.get(path);
    if (seen === null) {
      if (entry !== undefined) this.#remove(path);
      return false;
    }
    if (entry === undefined) return this.#insert({ path, ...seen });
    const old = entry.node;
    if (old.stat.czxid !== seen.stat.czxid) {
      if (isOlder(seen.stat, old.stat)) return false;
      this.#remove(path);
      return this.#insert({ path, ...seen });
    }
    if (seen.stat.mzxid <= old.stat.mzxid) return false;
    entry.node = { path, ...seen };
    this.#tell({ type: 'nodeChanged', path, old, node: entry.node });
    return false;
  }

  #insert(node: CachedNode): boolean {
    const { path } = node;
    if (path !== this.root) {
      const parent = this.#entries.get(parentOf(path));
      // The parent is gone again or not read yet; its children are listed when it is read.
      if (parent === undefined) return false;
      parent.children ??= new Set();
      parent.children.add(nameOf(path));
    }
    this.#entries.set(path, { node, children: null });
    this.#tell({ type: 'nodeCreated', path, old: null, node });
    return true;
  }

  /** Removes it with everything below it, the deepest first. */
  #remove(path: string): void {
    const order = [path];
    for (let index = 0; index < order.length; index++) {
      const parent = order[index] ?? path;
      for (const name of this.childrenOf(parent)) order.push(joinPath(parent, name));
    }
    for (const gone of order.reverse()) {
      const entry = this.#entries.get(gone);
      if (entry === undefined) continue;
      this.#entries.delete(gone);
      if (gone !== this.root) this.#forgetChild(parentOf(gone), nameOf(gone));
      this.#tell({ type: 'nodeDeleted', path: gone, old: entry.node, node: null });
    }
  }

  #forgetChild(parent: string, name: string): void {
    const entry = this.#entries.get(parent);
    entry?.children?.delete(name);
    if (entry?.children?.size === 0) entry.children = null;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** A path has one znode at a time, so the one that was created later was read later. */
function isOlder(stat: Stat, than: Stat): boolean {
  return stat.czxid < than.czxid;
}
