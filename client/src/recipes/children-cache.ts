/**
 * ChildrenCache: the children of a znode with their data, as Curator's PathChildrenCache.
 *
 * **Guarantee.** The same as for TreeCache: each child is shown as it was at some moment, and its
 * zxid never decreases. In the end the content equals the directory, and the events describe the
 * content at each moment.
 *
 * **Znodes.** `<path>/<name>`, which are only read. The directory itself is not reported; if it is
 * missing, there are no children. Znodes below the children are ignored. It needs recursive
 * watches, so ZooKeeper 3.6 or Rookery.
 *
 * **Suspended.** The content becomes outdated. After a reconnect everything is compared with the
 * server, changes are reported, and then 'resynced'. **Lost.** The same happens in the client's
 * next session.
 */
import { joinPath, nameOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import type { CachedNode, CacheEvent } from './shared/cache-values.js';
import { Decoder, type DecodingOptions } from './shared/decoder.js';
import type { StreamOptions } from './shared/stream.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { TreeCache } from './tree-cache.js';

export interface ChildrenCacheOptions<T = Buffer | null> extends DecodingOptions<T> {
  /** Which children to include, by name; all by default. */
  readonly accepts?: ((name: string) => boolean) | undefined;
  /** Whether to keep the data, the default, or only the Stats. */
  readonly withData?: boolean | undefined;
}

/** `T` is the type that the codec reads; without one, it is the data itself. */
export class ChildrenCache<T = Buffer | null> extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #tree: TreeCache;
  readonly #decoder: Decoder<T>;

  constructor(client: Client, path: string, options: ChildrenCacheOptions<T> = {}) {
    super();
    const { accepts = () => true, withData = true } = options;
    this.path = path;
    const selector = { accepts: (child: string) => accepts(nameOf(child)) };
    this.#tree = new TreeCache(client, path, { maxDepth: 1, selector, withData });
    this.#decoder = new Decoder(options, client.log);
  }

  get isInitialized(): boolean {
    return this.#tree.isInitialized;
  }

  /**
   * Reads and follows the children from now on, in the background. Calling it again has no effect.
   */
  start(): void {
    this.#tree.start();
  }

  /** Starts if necessary, and waits until the cache contains all children. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#tree.ready(options);
  }

  /** A copy of the children by name. */
  children(): Map<string, CachedNode> {
    return this.#tree.children(this.path) ?? new Map();
  }

  get(name: string): CachedNode | null {
    return this.#tree.get(joinPath(this.path, name));
  }

  /** Like get(), but decoded; throws the errors of the codec, such as InvalidDataError. */
  value(name: string): T | null {
    const node = this.get(name);
    return node === null ? null : this.decode(node);
  }

  /** The decoded children by name. A child that the codec cannot read is omitted and logged. */
  values(): Map<string, T> {
    return this.#decoder.values(this.children());
  }

  /** See TreeCache.decode(). */
  decode(node: CachedNode): T {
    return this.#decoder.value(node);
  }

  /** See TreeCache.listen(). */
  listen(listener: (event: CacheEvent) => void): () => void {
    return this.#tree.listen((event) => {
      if (!this.#isOfDirectory(event)) listener(event);
    });
  }

  /** See TreeCache.events(). */
  async *events(options: StreamOptions = {}): AsyncGenerator<CacheEvent, void> {
    for await (const event of this.#tree.events(options)) {
      if (event.type === 'snapshot')
        yield { type: 'snapshot', nodes: this.#childrenOf(event.nodes) };
      else if (!this.#isOfDirectory(event)) yield event;
    }
  }

  /** Stops following; the content remains readable. Calling it again has no effect. */
  close(): Promise<void> {
    return this.#tree.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#tree;
  }

  #isOfDirectory(event: CacheEvent): boolean {
    return 'path' in event && event.path === this.path;
  }

  #childrenOf(nodes: ReadonlyMap<string, CachedNode>): Map<string, CachedNode> {
    const children = new Map(nodes);
    children.delete(this.path);
    return children;
  }
}
