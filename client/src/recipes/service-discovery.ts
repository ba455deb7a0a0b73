/**
 * ServiceDiscovery: registers and finds the instances of services, in the formats of Curator's
 * x-discovery.
 *
 * **Guarantee.** An instance that is registered here can be found from when register() resolves
 * until it is unregistered or this object is closed. It is registered again in each session of the
 * client, and is gone at the latest with its session. An instance of the same id that another
 * session has registered is not overwritten: ours is created when that one is gone. All of this is
 * for DYNAMIC instances, the default; ServiceType says when others are removed.
 *
 * **Znodes.** `<path>/<service>/<id>`, ephemeral (or persistent, depending on its type), with the
 * JSON {name, id, address, port, sslPort, payload, registrationTimeUTC, serviceType, uriSpec,
 * enabled}. Parents are created as containers.
 *
 * **Suspended.** Registered instances remain; register() and other calls wait. **Lost.** The others
 * see our instances disappear; they return in the next session.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, OperationOptions } from '../api/values.js';
import { PersistentNode, type PersistentNodeMode } from './persistent-node.js';
import { ServiceCache, ServiceProvider, type ServiceProviderOptions } from './service-cache.js';
import { ignoreIfDisconnected } from './shared/background.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { RecipeStateError } from './shared/errors.js';
import { Failures } from './shared/failures.js';
import { readChildren } from './shared/follow-children.js';
import { checkName } from './shared/name-check.js';
import { type PayloadOptions, Payloads, readableInstance } from './shared/payloads.js';
import type { Json, ServiceInstance, ServiceType } from './shared/service-instance.js';
import type { WaitOptions } from './shared/wait-scope.js';

/** The arguments of register(); all other fields are filled in. */
export interface ServiceInstanceInit<In = Json>
  extends Partial<Omit<ServiceInstance<In>, 'name' | 'registrationTimeUTC'>> {
  readonly name: string;
}

export interface ServiceDiscoveryOptions<P = Json, In = P> extends PayloadOptions<P, In> {
  /** The ACL of the znodes; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

interface Registration<In> {
  readonly node: PersistentNode;
  instance: ServiceInstance<In>;
}

/**
 * `P` is the type of the payload that is read, and `In` of the one that may be written, by the
 * schema if there is one.
 */
export class ServiceDiscovery<P = Json, In = P>
  extends BackgroundRecipe
  implements AsyncDisposable
{
  readonly path: string;
  readonly #client: Client;
  readonly #options: ServiceDiscoveryOptions<P, In>;
  readonly #payloads: Payloads<P, In>;
  /** By name and id, because several services may use the same id. */
  readonly #registrations = new Map<string, Registration<In>>();
  /** The deletions of znodes for which register() has rejected. */
  readonly #withdrawn = new Set<Promise<void>>();
  readonly #failures: Failures;
  #closed: Promise<void> | null = null;

  constructor(client: Client, path: string, options: ServiceDiscoveryOptions<P, In> = {}) {
    super();
    this.path = path;
    this.#failures = new Failures({ recipe: 'ServiceDiscovery', path, log: client.log });
    this.#client = client;
    this.#options = options;
    this.#payloads = new Payloads(options);
  }

  /**
   * Resolves with the instance when others can find it. When it rejects, the instance is not
   * registered: a znode that was already created is deleted (except for a PERMANENT one), after the
   * next reconnect if necessary. Rejects with OptionError if the name or the id cannot be that of a
   * znode, with RecipeStateError if the id is already registered here, and with InvalidDataError if
   * the schema rejects the payload.
   */
  async register(
    init: ServiceInstanceInit<In>,
    options: WaitOptions = {},
  ): Promise<ServiceInstance<In>> {
    const instance = this.#instanceOf(init);
    checkName('name', instance.name);
    checkName('id', instance.id);
    const key = keyOf(instance);
    const path = this.#pathOf(instance.name, instance.id);
    const data = this.#payloads.encode(instance, path);
    if (this.#closed !== null) throw new RecipeStateError(this.path, 'closed');
    if (this.#registrations.has(key)) throw new RecipeStateError(path, 'registered already');
    const { acl } = this.#options;
    const { serviceType } = instance;
    const node = new PersistentNode(this.#client, path, {
      mode: MODES[serviceType],
      data,
      deleteOnClose: serviceType !== 'PERMANENT',
      ...(acl === undefined ? {} : { acl }),
    });
    const registration = { node, instance };
    this.#registrations.set(key, registration);
    try {
      await node.whenStanding(options);
      // A persistent znode may remain from an earlier run of the program.
      if (MODES[serviceType] === 'persistent') {
        await node.setData(data, options);
      }
    } catch (error) {
      if (this.#registrations.get(key) === registration) this.#registrations.delete(key);
      this.#withdraw(node);
      throw error;
    }
    node.onFailure((error) => this.#onRegistrationFailed(key, registration, error));
    return instance;
  }

  /**
   * Changes the instance registered with its name and id. Rejects with RecipeStateError if there is
   * none.
   */
  async update(instance: ServiceInstance<In>, options: WaitOptions = {}): Promise<void> {
    const registration = this.#registrations.get(keyOf(instance));
    const path = this.#pathOf(instance.name, instance.id);
    if (registration === undefined) throw new RecipeStateError(path, 'not registered here');
    const data = this.#payloads.encode(instance, path);
    registration.instance = instance;
    await registration.node.setData(data, options);
  }

  /** Removes an instance that was registered here; does nothing for any other. */
  async unregister(instance: Pick<ServiceInstance, 'name' | 'id'>): Promise<void> {
    const key = keyOf(instance);
    const registration = this.#registrations.get(key);
    this.#registrations.delete(key);
    if (registration === undefined) return;
    await registration.node.close();
    if (registration.instance.serviceType !== 'PERMANENT') return;
    const { path } = registration.node;
    await ignoreIfDisconnected(this.#client, this.#client.deleteGuaranteed(path));
  }

  /** The names of all services. Some of them may have no instances at the moment. */
  async names(options: OperationOptions = {}): Promise<string[]> {
    return [...(await readChildren(this.#client, this.path, false, options)).keys()].sort();
  }

  /**
   * Reads the instances once, sorted by id. A znode that is none, or that the schema rejects, hides
   * no other: it is left out, and logged as `discovery.invalid_instance`.
   */
  async instances(name: string, options: OperationOptions = {}): Promise<ServiceInstance<P>[]> {
    const path = joinPath(this.path, name);
    const { log } = this.#client;
    const found = await readChildren(this.#client, path, true, options);
    return [...found]
      .flatMap(([id, data]) => readableInstance(this.#payloads, joinPath(path, id), data, log))
      .sort((left, right) => (left.id < right.id ? -1 : 1));
  }

  /** Resolves with null if there is none. Rejects with CorruptDataError and InvalidDataError. */
  async instance(
    name: string,
    id: string,
    options: OperationOptions = {},
  ): Promise<ServiceInstance<P> | null> {
    const path = this.#pathOf(name, id);
    try {
      return this.#payloads.decode(path, (await this.#client.getData(path, options)).data);
    } catch (error) {
      if (error instanceof NoNodeError) return null;
      throw error;
    }
  }

  /** Returns a cache that the caller must start and close. */
  cache(name: string): ServiceCache<P> {
    return new ServiceCache(this.#client, joinPath(this.path, name), this.#payloadOption);
  }

  /** Returns a provider that the caller must start and close. */
  provider(name: string, options: ServiceProviderOptions<P> = {}): ServiceProvider<P> {
    const path = joinPath(this.path, name);
    return new ServiceProvider(this.#client, path, { ...options, ...this.#payloadOption });
  }

  /**
   * Removes everything that was registered here except PERMANENT instances. Calling it again has no
   * effect.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  get #payloadOption(): PayloadOptions<P, unknown> {
    return { payload: this.#options.payload };
  }

  protected override get supervised(): Supervised {
    const { last } = this.#failures;
    const open = this.#registrations.size > 0 ? 'running' : 'idle';
    return {
      status: this.#closed !== null ? 'closed' : last !== null ? 'failed' : open,
      failure: last?.error ?? null,
      onFailure: (listener) => this.#failures.listen(listener),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const registrations = [...this.#registrations.values()];
    this.#registrations.clear();
    const closed = registrations.map(({ node }) => node.close());
    await Promise.all([...closed, ...this.#withdrawn]);
  }

  /** It is no longer registered, and may be registered again. */
  #onRegistrationFailed(key: string, registration: Registration<In>, error: unknown): void {
    if (this.#registrations.get(key) !== registration) return;
    this.#registrations.delete(key);
    this.#failures.tell(error, { isAwaited: false });
  }

  #withdraw(node: PersistentNode): void {
    // If it fails, register() has already rejected with the cause.
    const withdrawn = node
      .close()
      .catch(() => {})
      .finally(() => this.#withdrawn.delete(withdrawn));
    this.#withdrawn.add(withdrawn);
  }

  #instanceOf(init: ServiceInstanceInit<In>): ServiceInstance<In> {
    return {
      name: init.name,
      id: init.id ?? this.#client.surroundings.uuid(),
      address: init.address ?? null,
      port: init.port ?? null,
      sslPort: init.sslPort ?? null,
      // A schema that requires a payload rejects null.
      payload: init.payload ?? (null as In),
      registrationTimeUTC: Date.now(),
      serviceType: init.serviceType ?? 'DYNAMIC',
      uriSpec: init.uriSpec ?? null,
      enabled: init.enabled ?? true,
    };
  }

  #pathOf(name: string, id: string): string {
    return joinPath(joinPath(this.path, name), id);
  }
}

const MODES: Readonly<Record<ServiceType, PersistentNodeMode>> = {
  DYNAMIC: 'ephemeral',
  DYNAMIC_SEQUENTIAL: 'ephemeralSequential',
  STATIC: 'persistent',
  PERMANENT: 'persistent',
};

function keyOf({ name, id }: Pick<ServiceInstance, 'name' | 'id'>): string {
  return `${name}/${id}`;
}
