/**
 * A view of a client through a path prefix, for namespaces and for the chroot of the connect
 * string.
 *
 * It adds the prefix to every path of a request and removes it from those of results, events and
 * errors; `/` is the prefix itself. The session, the connection and close() are those of the
 * wrapped client. There is never more than one such view around a client: a namespace in a
 * namespace is a view with a longer prefix. Each view wraps a watcher only once, so a watcher that
 * is given twice is called once, and it can be removed only through the same view.
 */
import { validatePath, type WatcherType } from '@rookery/protocol';
import type { AddWatchOptions, Client, ListOptions, ReadOp, WatchHandle } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type {
  Acl,
  Children,
  Created,
  CreateOptions,
  Data,
  Node,
  OperationOptions,
  Stat,
  VersionOptions,
  WatchEvent,
  WatchedReadOptions,
  Watcher,
} from '../api/values.js';
import type { TypedClient, TypedViewOptions, ViewOptions } from '../api/views.js';
import { DelegatingClient } from './delegating-client.js';
import { fenced } from './fenced.js';
import { NamespacePaths } from './namespace-paths.js';
import { CodecClient } from './typed-client.js';

/** The configuration is read from this path, whatever the prefix. */
const CONFIG_PATH = '/zookeeper/config';

/**
 * Returns the view of `client` in which `path` is the root, or the client itself for '/'. Throws
 * OptionError for a path that cannot be a root.
 */
export function namespaced(client: Client, path: string): Client {
  const problem = validatePath(path);
  if (problem !== null) throw new OptionError('namespace', problem);
  if (path === '/') return client;
  if (!(client instanceof NamespacedClient)) return new NamespacedClient(client, path);
  return new NamespacedClient(client.base, `${client.prefix}${path}`);
}

/** A path of a view and its client, in the terms of the client without any prefix. */
export interface Absolute {
  /** The client without any prefix. */
  readonly client: Client;
  readonly path: string;
}

/** For helpers that must create znodes above the root of the view. */
export function absolute(client: Client, path: string): Absolute {
  if (!(client instanceof NamespacedClient)) return { client, path };
  return { client: client.base, path: client.absolutePath(path) };
}

/** `base` is the client without any prefix. */
export class NamespacedClient extends DelegatingClient {
  readonly #prefix: string;
  readonly #paths: NamespacePaths;
  readonly #wrappers = new WeakMap<Watcher, Watcher>();

  /** `prefix` is a valid path other than `/`; see `namespaced`. */
  constructor(base: Client, prefix: string) {
    super(base);
    this.#prefix = prefix;
    this.#paths = new NamespacePaths(prefix);
  }

  override get prefix(): string {
    return this.#prefix;
  }

  absolutePath(path: string): string {
    return this.#paths.in(path);
  }

  override create(path: string, data?: Data, options?: CreateOptions): Promise<Created> {
    return this.#translated(async () => {
      const full = this.#paths.inOfCreate(path, options?.mode);
      const created = await this.base.create(full, data, options);
      return { ...created, path: this.#paths.out(created.path) };
    }, [path]);
  }

  override delete(path: string, options?: VersionOptions): Promise<void> {
    return this.#at(path, (full) => this.base.delete(full, options));
  }

  override exists(path: string, options?: WatchedReadOptions): Promise<Stat | null> {
    return this.#at(path, (full) => this.base.exists(full, this.#wrapIn(options)));
  }

  override getData(path: string, options?: WatchedReadOptions): Promise<Node> {
    return this.#at(path, (full) => this.base.getData(full, this.#wrapIn(options)));
  }

  override setData(path: string, data: Data, options?: VersionOptions): Promise<Stat> {
    return this.#at(path, (full) => this.base.setData(full, data, options));
  }

  override getChildren(path: string, options?: WatchedReadOptions): Promise<Children> {
    return this.#at(path, (full) => this.base.getChildren(full, this.#wrapIn(options)));
  }

  override async *listChildren(path: string, options?: ListOptions): AsyncGenerator<string, void> {
    try {
      yield* this.base.listChildren(this.#paths.in(path), options);
    } catch (error) {
      throw this.#paths.outOfError(error);
    }
  }

  override getAcl(
    path: string,
    options?: OperationOptions,
  ): Promise<{ acl: readonly Acl[]; stat: Stat }> {
    return this.#at(path, (full) => this.base.getAcl(full, options));
  }

  override setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat> {
    return this.#at(path, (full) => this.base.setAcl(full, acl, options));
  }

  override raiseSequence(
    path: string,
    atLeast: number,
    options?: OperationOptions,
  ): Promise<number> {
    return this.#at(path, (full) => this.base.raiseSequence(full, atLeast, options));
  }

  override sync(path: string, options?: OperationOptions): Promise<void> {
    return this.#at(path, (full) => this.base.sync(full, options));
  }

  override multi(
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]> {
    return this.#translated(
      async () => {
        const full = ops.map((op) => this.#paths.inOfOp(op));
        const results = await this.base.multi(full, options);
        return results.map((result) => this.#paths.outOfResult(result));
      },
      ops.filter(({ kind }) => kind === 'create').map(({ path }) => path),
    );
  }

  override multiRead(
    ops: readonly ReadOp[],
    options?: OperationOptions,
  ): ReturnType<Client['multiRead']> {
    return this.#translated(async () => {
      const full = ops.map((op) => ({ ...op, path: this.#paths.in(op.path) }));
      const results = await this.base.multiRead(full, options);
      return results.map((result) => {
        if (result.kind !== 'error') return result;
        const error = this.#paths.outOfError(result.error);
        return error instanceof Error ? { kind: 'error', error } : result;
      });
    });
  }

  /**
   * The server compares the beginnings of strings, so `/a` also matches `/ab`; this returns only
   * paths in the view.
   */
  override getEphemerals(prefix = '/', options?: OperationOptions): Promise<readonly string[]> {
    return this.#at(prefix, async (full) => {
      const paths = await this.base.getEphemerals(full, options);
      const isOwn = (path: string) => path === this.prefix || this.#paths.isInside(path);
      return paths.filter(isOwn).map((path) => this.#paths.out(path));
    });
  }

  override countDescendants(path: string, options?: OperationOptions): Promise<number> {
    return this.#at(path, (full) => this.base.countDescendants(full, options));
  }

  override addWatch(
    path: string,
    watcher: Watcher,
    options?: AddWatchOptions,
  ): Promise<WatchHandle> {
    return this.#at(path, async (full) => {
      const handle = await this.base.addWatch(full, this.#wrap(watcher), options);
      return { path, mode: handle.mode, remove: () => handle.remove() };
    });
  }

  override removeWatcher(path: string, watcher: Watcher): void {
    // A watcher of getConfig() is registered with the base client, under the path of its events.
    if (path === CONFIG_PATH) this.base.removeWatcher(path, watcher);
    const wrapper = this.#wrappers.get(watcher);
    if (wrapper !== undefined) this.base.removeWatcher(this.#paths.in(path), wrapper);
  }

  override removeWatches(
    path: string,
    type: WatcherType,
    options?: OperationOptions,
  ): Promise<void> {
    return this.#at(path, (full) => this.base.removeWatches(full, type, options));
  }

  override checkWatches(
    path: string,
    type: WatcherType,
    options?: OperationOptions,
  ): Promise<void> {
    return this.#at(path, (full) => this.base.checkWatches(full, type, options));
  }

  fenced(
    lease: Lease,
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]> {
    return this.#translated(async () => {
      const full = ops.map((op) => this.#paths.inOfOp(op));
      const transaction = { lease, ops: full, prefix: this.prefix };
      const results = await fenced(this.base, transaction, options);
      return results.map((result) => this.#paths.outOfResult(result));
    });
  }

  namespace(path: string): Client {
    return namespaced(this, path);
  }

  with<T, In>(options: TypedViewOptions<T, In>): TypedClient<T, In>;
  with(options: ViewOptions): Client;
  with<T, In>(options: ViewOptions | TypedViewOptions<T, In>): Client | TypedClient<T, In> {
    const { codec, ...rest } = { codec: undefined, ...options };
    const view = namespaced(this.base.with(rest), this.prefix);
    return codec === undefined ? view : new CodecClient(view, codec);
  }

  override deleteGuaranteed(path: string, options?: { readonly session?: bigint }): Promise<void> {
    const deleted = this.#at(path, (full) => this.base.deleteGuaranteed(full, options));
    deleted.catch(() => {
      // As with the base client, a rejection that nobody handles is not reported as unhandled.
    });
    return deleted;
  }

  #at<T>(path: string, operation: (full: string) => Promise<T>): Promise<T> {
    return this.#translated(() => operation(this.#paths.in(path)));
  }

  /** The operation is called synchronously, so that requests keep the order of the calls. */
  async #translated<T>(operation: () => Promise<T>, created: readonly string[] = []): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      throw this.#paths.outOfError(error, created);
    }
  }

  #wrapIn(options: WatchedReadOptions | undefined): WatchedReadOptions | undefined {
    if (options?.watcher === undefined) return options;
    return { ...options, watcher: this.#wrap(options.watcher) };
  }

  #wrap(watcher: Watcher): Watcher {
    // The wrapped client reports what is wrong with it.
    if (typeof watcher !== 'function') return watcher;
    const known = this.#wrappers.get(watcher);
    if (known !== undefined) return known;
    const wrapper = (event: WatchEvent) => watcher(this.#paths.outOfEvent(event));
    this.#wrappers.set(watcher, wrapper);
    return wrapper;
  }
}
