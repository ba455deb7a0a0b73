/**
 * TreeCache: a subtree, or a part of one, as it is: Curator's TreeCache and CuratorCache.
 *
 * **Guarantee.** Each znode that it holds is as it was at some moment, never goes back in zxid, and
 * what it holds ends equal to the tree however connections and sessions were lost. The events,
 * applied one after the other, give what it holds at each moment; parents come before their
 * children and go after them. Not a snapshot: znodes are read one by one. Several changes of a
 * znode may be told as one, but one that was deleted and created again is told as both.
 *
 * **Znodes.** `<path>` and all below it, only read; the root may be missing, be deleted and come
 * again. Needs recursive watches: ZooKeeper 3.6. What may not be read (NoAuthError) is left out,
 * but if it is the root the cache ends with that `failure`.
 *
 * **Suspended.** What it holds grows old; when the connection has come back each znode is compared
 * with the server's, changes are told, then 'resynced'. **Lost.** The same in the next session.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError } from '../errors.js';
import { PersistentWatcher } from './persistent-watcher.js';
import { CacheBase } from './shared/cache-base.js';
import type { CachedNode } from './shared/cache-values.js';
import type { DecodingOptions } from './shared/decoder.js';
import type { Within } from './shared/persist.js';
import { TreeFollower, type TreeScope } from './shared/tree-follower.js';
import { TreeModel } from './shared/tree-model.js';

/** What part of the tree is held; must answer alike for a path each time. */
export interface TreeSelector {
  /** Whether to hold this znode and what is below it; all by default. Not asked for the root. */
  readonly accepts?: ((path: string) => boolean) | undefined;
  /** Whether to look below this znode; all by default. */
  readonly traverses?: ((path: string) => boolean) | undefined;
}

export interface TreeCacheOptions<T = Buffer | null> extends DecodingOptions<T> {
  /** Levels below the root that are held: 0 for the root only; all by default. */
  readonly maxDepth?: number | undefined;
  readonly selector?: TreeSelector | undefined;
  /** Whether data is held, the default, or Stats only, for large trees. */
  readonly withData?: boolean | undefined;
}

/** `T` is what the codec reads data as; without one the data itself. */
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

  /** How many znodes it holds. */
  get size(): number {
    return this.#model.size;
  }

  /** Null for a znode that is not there, or not held. */
  get(path: string): CachedNode | null {
    return this.#model.get(path);
  }

  /** As get(), decoded; throws what the codec does. */
  value(path: string): T | null {
    const node = this.#model.get(path);
    return node === null ? null : this.decode(node);
  }

  /** The znodes right below the path, by name; null when the path is not held. */
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
