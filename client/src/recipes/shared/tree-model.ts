/**
 * What a cache of a subtree holds, and what each reading of a znode changes in it. Pure but for
 * telling the changes, in an order in which parents come before their children and go after them
 * (CURATOR-324).
 *
 * Always: the parent of a znode that it holds is held, up to the root. A znode is never replaced by
 * an older reading. Used by the tree follower.
 */
import { joinPath, nameOf, parentOf } from '@rookery/protocol';
import type { Node, Stat } from '../../api/values.js';
import type { CachedNode, CacheEvent } from './cache-values.js';

interface Entry {
  node: CachedNode;
  /** Names; null where there are none, as for most znodes. */
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

  /** Names of the children that are held. */
  childrenOf(path: string): ReadonlySet<string> {
    return this.#entries.get(path)?.children ?? NONE;
  }

  paths(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** Parents first. */
  snapshot(): Map<string, CachedNode> {
    return new Map([...this.#entries].map(([path, { node }]) => [path, node]));
  }

  /**
   * The znode as it was read, null for none. True when it is held now and was not before, in this
   * incarnation, so that nothing is known of its children.
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
      // Gone again, or to be read yet: its children are then listed.
      if (parent === undefined) return false;
      parent.children ??= new Set();
      parent.children.add(nameOf(path));
    }
    this.#entries.set(path, { node, children: null });
    this.#tell({ type: 'nodeCreated', path, old: null, node });
    return true;
  }

  /** With all below it, the deepest first. */
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

/** What was created later was read later: a path has one znode at a time. */
function isOlder(stat: Stat, than: Stat): boolean {
  return stat.czxid < than.czxid;
}
