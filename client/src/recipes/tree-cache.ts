/**
 * TreeCache: a local copy of a subtree, or of a part of one, as Curator's TreeCache and
 * CuratorCache.
 *
 * **Guarantee.** Each znode in the cache is as it was at some moment, and its zxid never decreases.
 * In the end the content equals the tree, however connections and sessions were lost. Applying the
 * events one after the other yields the content at each moment; parents are created before their
 * children and deleted after them. The content is not a consistent snapshot, because znodes are
 * read one by one. Several changes of a znode may be reported as one, but one that was deleted and
 * created again is reported as both.
 *
 * **Znodes.** `<path>` and everything below it, which are only read. The root may be missing, be
 * deleted and be created again. It needs recursive watches, so ZooKeeper 3.6 or Rookery. Znodes
 * that may not be read (NoAuthError) are omitted; if it is the root, the cache ends with that
 * `failure`.
 *
 * **Suspended.** The content becomes outdated. After a reconnect each znode is compared with the
 * server's, changes are reported, and then 'resynced'. **Lost.** The same in the next session.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import { PersistentWatcher } from './persistent-watcher.js';
import { CacheBase } from './shared/cache-base.js';
import type { CachedNode } from './shared/cache-values.js';
import type { DecodingOptions } from './shared/decoder.js';
import type { Within } from './shared/persist.js';
import { TreeFollower, type TreeScope } from './shared/tree-follower.js';
import { TreeModel } from './shared/tree-model.js';

/** Selects a part of the tree. It must always return the same result for a path. */
export interface TreeSelector {
  /** Whether to include this znode and those below it; all by default. Not called for the root. */
  readonly accepts?: ((path: string) => boolean) | undefined;
  /** Whether to include the znodes below this one; all by default. */
  readonly traverses?: ((path: string) => boolean) | undefined;
}

export interface TreeCacheOptions<T = Buffer | null> extends DecodingOptions<T> {
  /** How many levels below the root to include: 0 for only the root; all by default. */
  readonly maxDepth?: number | undefined;
  readonly selector?: TreeSelector | undefined;
  /** Whether to keep the data, the default, or only the Stats, for large trees. */
  readonly withData?: boolean | undefined;
}

/** `T` is the type that the codec reads; without one, it is the data itself. */
export class TreeCache<T = Buffer | null> extends CacheBase<T> {
  readonly #watcher: PersistentWatcher;
  readonly #model: TreeModel;
  readonly #follower: TreeFollower;

  constructor(client: Client, path: string, options: TreeCacheOptions<T> = {}) {
    super(client, path, options);
    this.#watcher = new PersistentWatcher(client, path, { recursive: true });
    this.#model = new TreeModel(path, (event) => this.tell(event));
    const scope = scopeOf(path, options);
    this.#follower = new TreeFollower(client, this.#model, scope, (hasResynced) => {
      const isFirst = !this.isInitialized;
      this.tellInitialized();
      if (hasResynced && !isFirst) this.tell({ type: 'resynced' });
    });
    this.#watcher.listen((event) => this.#follower.onEvent(event));
  }

  /** The number of znodes in the cache. */
  get size(): number {
    return this.#model.size;
  }

  /** Null for a znode that does not exist or is not included. */
  get(path: string): CachedNode | null {
    return this.#model.get(path);
  }

  /** Like get(), but decoded; throws the errors of the codec. */
  value(path: string): T | null {
    const node = this.#model.get(path);
    return node === null ? null : this.decode(node);
  }

  /** The znodes directly below the path, by name; null if the path is not in the cache. */
  children(path: string): Map<string, CachedNode> | null {
    if (!this.#model.has(path)) return null;
    const children = new Map<string, CachedNode>();
    for (const name of this.#model.childrenOf(path)) {
      const child = this.#model.get(joinPath(path, name));
      if (child !== null) children.set(name, child);
    }
    return children;
  }

  override snapshot(): Map<string, CachedNode> {
    return this.#model.snapshot();
  }

  protected override async follow(within: Within): Promise<void> {
    const { signal } = within;
    await this.#watcher.whenStanding({ signal });
    await this.#follower.run(within);
  }

  protected override async release(): Promise<void> {
    await this.#watcher.close();
  }
}

function scopeOf(root: string, options: Omit<TreeCacheOptions, 'codec'>): TreeScope {
  const { maxDepth = Number.POSITIVE_INFINITY, selector = {}, withData = true } = options;
  if (!(maxDepth >= 0)) throw new OptionError('maxDepth', 'must not be negative');
  const { accepts = () => true, traverses = () => true } = selector;
  const depthOfRoot = depthOf(root);
  return {
    accepts,
    traverses: (path) => depthOf(path) - depthOfRoot < maxDepth && traverses(path),
    withData,
  };
}

function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1;
}
