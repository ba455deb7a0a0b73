/**
 * ChildrenCache: the children of a znode with their data: Curator's PathChildrenCache.
 *
 * **Guarantee.** As TreeCache's: each child is as it was at some moment and never goes back in
 * zxid; what it holds ends equal to the directory, and the events give what it holds at each
 * moment.
 *
 * **Znodes.** `<path>/<name>`, only read. The directory itself is not told of; while it is missing
 * there are no children. What is below the children is not looked at.
 *
 * **Suspended.** What it holds grows old; when the connection has come back all is compared with
 * the server's, changes are told, then 'resynced'. **Lost.** The same in the client's next session.
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
  /** Which children to hold, by name; all by default. */
  readonly accepts?: ((name: string) => boolean) | undefined;
  /** Whether data is held, the default, or Stats only. */
  readonly withData?: boolean | undefined;
}

/** `T` is what the codec reads data as; without one the data itself. */
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

  /** Reads and follows from now on, in the background; idempotent. */
  start(): void {
    this.#tree.start();
  }

  /** Starts if need be and waits until it holds all children. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#tree.ready(options);
  }

  /** By name; a copy. */
  children(): Map<string, CachedNode> {
    return this.#tree.children(this.path) ?? new Map();
  }

  get(name: string): CachedNode | null {
    return this.#tree.get(joinPath(this.path, name));
  }

  /** As get(), decoded; throws what the codec does, such as InvalidDataError. */
  value(name: string): T | null {
    const node = this.get(name);
    return node === null ? null : this.decode(node);
  }

  /** By name. What the codec cannot read is left out, and told in the log. */
  values(): Map<string, T> {
    return this.#decoder.values(this.children());
  }

  /** As TreeCache.decode(). */
  decode(node: CachedNode): T {
    return this.#decoder.value(node);
  }

  /** As TreeCache.listen(). */
  listen(listener: (event: CacheEvent) => void): () => void {
    return this.#tree.listen((event) => {
      if (!this.#isOfDirectory(event)) listener(event);
    });
  }

  /** As TreeCache.events(). */
  async *events(options: StreamOptions = {}): AsyncGenerator<CacheEvent, void> {
    for await (const event of this.#tree.events(options)) {
      if (event.type === 'snapshot')
        yield { type: 'snapshot', nodes: this.#childrenOf(event.nodes) };
      else if (!this.#isOfDirectory(event)) yield event;
    }
  }

  /** Idempotent; what it holds stays readable. */
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
