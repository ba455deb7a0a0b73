/**
 * ServiceCache follows the instances of a service, and ServiceProvider selects one of them at a
 * time, as in Curator.
 *
 * **Guarantee.** The same as for ChildrenCache: in the end the content equals what is registered.
 * Data that cannot be read as an instance is omitted. A provider returns only instances that are
 * enabled, accepted by its filter and not recently reported as down, in the order of its strategy;
 * null if there is none.
 *
 * **Znodes.** `<base>/<service>/<id>`, which are only read. It needs recursive watches, so
 * ZooKeeper 3.6 or Rookery.
 *
 * **Suspended.** The instances become outdated and are still returned, because an old address is
 * better than none. **Lost.** The same; everything is compared in the next session.
 */
import type { Client } from '../api/client.js';
import type { Log } from '../api/logger.js';
import { ChildrenCache } from './children-cache.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import type { CachedNode, CacheEvent } from './shared/cache-values.js';
import { type PayloadOptions, Payloads, readableInstance } from './shared/payloads.js';
import {
  type DownInstancePolicy,
  DownInstances,
  type ProviderStrategy,
  roundRobin,
} from './shared/provider-strategy.js';
import type { Json, ServiceInstance } from './shared/service-instance.js';
import type { WaitOptions } from './shared/wait-scope.js';

/** `P` is the type of the payload, by the schema if there is one. */
export class ServiceCache<P = Json> extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #cache: ChildrenCache;
  /** Each znode and version is decoded only once, because there may be many. */
  readonly #decoded = new WeakMap<CachedNode, readonly ServiceInstance<P>[]>();
  readonly #payloads: Payloads<P, unknown>;
  readonly #log: Log;
  #instances: readonly ServiceInstance<P>[] | null = null;

  /** `path` is that of the service. */
  constructor(client: Client, path: string, options: PayloadOptions<P, unknown> = {}) {
    super();
    this.path = path;
    this.#payloads = new Payloads(options);
    this.#log = client.log;
    this.#cache = new ChildrenCache(client, path);
    this.#cache.listen(() => {
      this.#instances = null;
    });
  }

  /** Sorted by id. */
  get instances(): readonly ServiceInstance<P>[] {
    this.#instances ??= [...this.#cache.children().values()]
      .flatMap((node) => this.#instancesOf(node))
      .sort((left, right) => (left.id < right.id ? -1 : 1));
    return this.#instances;
  }

  /** Follows the service, in the background. Calling it again has no effect. */
  start(): void {
    this.#cache.start();
  }

  /** Starts if necessary, and waits until it contains everything that is registered. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#cache.ready(options);
  }

  /**
   * Calls the listener when it contains everything that is registered, and then with each change.
   * Returns a function that removes it.
   */
  listen(listener: (instances: readonly ServiceInstance<P>[]) => void): () => void {
    return this.#cache.listen((event) => {
      if (this.#isTold(event)) listener(this.instances);
    });
  }

  /** Calling it again has no effect. */
  close(): Promise<void> {
    return this.#cache.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#cache;
  }

  /** The first read may find thousands of znodes, which are not reported one by one. */
  #isTold(event: CacheEvent): boolean {
    return 'path' in event ? this.#cache.isInitialized : event.type === 'initialized';
  }

  #instancesOf(node: CachedNode): readonly ServiceInstance<P>[] {
    const known = this.#decoded.get(node);
    if (known !== undefined) return known;
    const decoded = readableInstance(this.#payloads, node.path, node.data, this.#log);
    this.#decoded.set(node, decoded);
    return decoded;
  }
}

export interface ServiceProviderOptions<P = Json> {
  /** Round robin by default. */
  readonly strategy?: ProviderStrategy<P> | undefined;
  readonly downPolicy?: DownInstancePolicy | undefined;
  /** Which instances may be returned; all that are enabled by default. */
  readonly filter?: ((instance: ServiceInstance<P>) => boolean) | undefined;
}

/**
 * Selects an instance at a time. If it can no longer follow the service (`failure`), the instances
 * become outdated.
 */
export class ServiceProvider<P = Json> extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #client: Client;
  readonly #cache: ServiceCache<P>;
  readonly #strategy: ProviderStrategy<P>;
  readonly #down: DownInstances;
  readonly #filter: (instance: ServiceInstance<P>) => boolean;

  /** `path` is that of the service. */
  constructor(
    client: Client,
    path: string,
    options: ServiceProviderOptions<P> & PayloadOptions<P, unknown> = {},
  ) {
    super();
    this.path = path;
    this.#client = client;
    this.#cache = new ServiceCache(client, path, options);
    this.#strategy = options.strategy ?? roundRobin();
    this.#down = new DownInstances(options.downPolicy);
    this.#filter = options.filter ?? (() => true);
  }

  /** Follows the service, in the background. Calling it again has no effect. */
  start(): void {
    this.#cache.start();
  }

  /** Starts if necessary, and waits until it knows the instances. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#cache.ready(options);
  }

  /** All instances that may be returned, sorted by id. */
  get instances(): readonly ServiceInstance<P>[] {
    const nowMs = this.#client.surroundings.nowMs();
    return this.#cache.instances.filter(
      (instance) =>
        instance.enabled && this.#filter(instance) && !this.#down.isDown(instance.id, nowMs),
    );
  }

  /** The instance to use next, or null if there is none. */
  next(): ServiceInstance<P> | null {
    return this.#strategy(this.instances);
  }

  /**
   * Reports that an instance failed. After as many reports as `downPolicy` says, by default two
   * within 30 seconds, it is not returned for a while.
   */
  noteError(instance: Pick<ServiceInstance<P>, 'id'>): void {
    this.#down.noteError(instance.id, this.#client.surroundings.nowMs());
  }

  /** Calling it again has no effect. */
  close(): Promise<void> {
    return this.#cache.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#cache;
  }
}
