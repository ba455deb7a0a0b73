/**
 * The view that `client.with()` returns: a client with its own retries, and its own ACL for new
 * znodes. It wraps the client directly, and a namespace wraps it. It owns nothing.
 */
import type { ClientInfo } from '@rookery/protocol';
import type { Client, ReadOp, ReadResult } from '../api/client.js';
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
  WatchedReadOptions,
} from '../api/values.js';
import type { TypedClient, TypedViewOptions, ViewOptions } from '../api/views.js';
import { DelegatingClient } from './delegating-client.js';
import { fenced } from './fenced.js';
import { namespaced } from './namespaced-client.js';
import { retry } from './retry.js';
import { CodecClient } from './typed-client.js';

const NAMES = ['acl', 'codec', 'retry'];

/**
 * Implements `client.with(options)` for a client without a namespace. `outer` are the options of
 * the view whose `with` was called.
 */
export function adapted(client: Client, options: ViewOptions, outer?: ViewOptions): Client;
export function adapted<T, In>(
  client: Client,
  options: ViewOptions | TypedViewOptions<T, In>,
  outer?: ViewOptions,
): Client | TypedClient<T, In>;
export function adapted<T, In>(
  client: Client,
  options: ViewOptions | TypedViewOptions<T, In>,
  outer: ViewOptions = {},
): Client | TypedClient<T, In> {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new OptionError(unknown, 'is none of retry, acl and codec');
  const { acl = outer.acl, retry: policy = outer.retry } = options;
  const isPlain = acl === undefined && policy === undefined;
  const view = isPlain ? client : new AdaptedClient(client, { acl, retry: policy });
  return 'codec' in options ? new CodecClient(view, options.codec) : view;
}

class AdaptedClient extends DelegatingClient {
  readonly #options: ViewOptions;

  constructor(base: Client, options: ViewOptions) {
    super(base);
    this.#options = options;
  }

  override create(path: string, data?: Data, options?: CreateOptions): Promise<Created> {
    const all = { ...options, acl: options?.acl ?? this.#options.acl };
    return this.#again(all, (given) => this.base.create(path, data, given));
  }

  override delete(path: string, options?: VersionOptions): Promise<void> {
    return this.#again(options, (given) => this.base.delete(path, given));
  }

  override exists(path: string, options?: WatchedReadOptions): Promise<Stat | null> {
    return this.#again(options, (given) => this.base.exists(path, given));
  }

  override getData(path: string, options?: WatchedReadOptions): Promise<Node> {
    return this.#again(options, (given) => this.base.getData(path, given));
  }

  override setData(path: string, data: Data, options?: VersionOptions): Promise<Stat> {
    return this.#again(options, (given) => this.base.setData(path, data, given));
  }

  override getChildren(path: string, options?: WatchedReadOptions): Promise<Children> {
    return this.#again(options, (given) => this.base.getChildren(path, given));
  }

  override getAcl(
    path: string,
    options?: OperationOptions,
  ): Promise<{ acl: readonly Acl[]; stat: Stat }> {
    return this.#again(options, (given) => this.base.getAcl(path, given));
  }

  override setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat> {
    return this.#again(options, (given) => this.base.setAcl(path, acl, given));
  }

  override raisesSequences(options?: OperationOptions): Promise<boolean> {
    return this.#again(options, (given) => this.base.raisesSequences(given));
  }

  override raiseSequence(
    path: string,
    atLeast: number,
    options?: OperationOptions,
  ): Promise<number> {
    return this.#again(options, (given) => this.base.raiseSequence(path, atLeast, given));
  }

  override sync(path: string, options?: OperationOptions): Promise<void> {
    return this.#again(options, (given) => this.base.sync(path, given));
  }

  override multi(
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]> {
    const { acl } = this.#options;
    const all = ops.map((op) => (op.kind === 'create' ? { ...op, acl: op.acl ?? acl } : op));
    return this.#again(options, (given) => this.base.multi(all, given));
  }

  override multiRead(ops: readonly ReadOp[], options?: OperationOptions): Promise<ReadResult[]> {
    return this.#again(options, (given) => this.base.multiRead(ops, given));
  }

  override getEphemerals(prefix?: string, options?: OperationOptions): Promise<readonly string[]> {
    return this.#again(options, (given) => this.base.getEphemerals(prefix, given));
  }

  override countDescendants(path: string, options?: OperationOptions): Promise<number> {
    return this.#again(options, (given) => this.base.countDescendants(path, given));
  }

  override whoAmI(options?: OperationOptions): Promise<readonly ClientInfo[]> {
    return this.#again(options, (given) => this.base.whoAmI(given));
  }

  override getConfig(options?: WatchedReadOptions): Promise<Node> {
    return this.#again(options, (given) => this.base.getConfig(given));
  }

  fenced(
    lease: Lease,
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]> {
    return fenced(this, { lease, ops, prefix: this.prefix }, options);
  }

  namespace(path: string): Client {
    return namespaced(this, path);
  }

  with<T, In>(options: TypedViewOptions<T, In>): TypedClient<T, In>;
  with(options: ViewOptions): Client;
  with<T, In>(options: ViewOptions | TypedViewOptions<T, In>): Client | TypedClient<T, In> {
    return adapted(this.base, options, this.#options);
  }

  /**
   * The first attempt is made synchronously, so that requests keep the order of the calls. Later
   * attempts belong to the same session.
   */
  #again<Options extends OperationOptions, T>(
    options: Options | undefined,
    operation: (given: Options | undefined) => Promise<T>,
  ): Promise<T> {
    const { retry: policy } = this.#options;
    if (policy === undefined) return operation(options);
    const session = options?.session ?? this.base.session?.id;
    const within = (given: OperationOptions) => ({ ...options, ...given }) as Options;
    const first = operation(session === undefined ? options : within({ session }));
    first.catch(() => {}); // the first attempt awaits it
    const again = (attempt: number, given: OperationOptions) => {
      const { session: same } = given;
      return attempt === 0
        ? first
        : operation(same === undefined ? options : within({ session: same }));
    };
    return retry(this.base, policy, again, { signal: options?.signal, session });
  }
}
