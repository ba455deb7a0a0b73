/**
 * The client: one session and every operation on it. It only composes: the session is in
 * ../session, the watches are in ../watches, and what builds on operations is in ../helpers.
 *
 * Its paths are those of the server; chroot and namespaces are views in front of it. Made by
 * connect().
 */
import {
  type ClientInfo,
  SessionExpiredError,
  UnimplementedError,
  type WatcherType,
} from '@rookery/protocol';
import type {
  AddWatchOptions,
  Client,
  ListOptions,
  ReadOp,
  ReadResult,
  Reconfiguration,
  WatchHandle,
  WatchStreamOptions,
} from '../api/client.js';
import type { Lease } from '../api/lease.js';
import type { Log } from '../api/logger.js';
import type { TlsOptions } from '../api/options.js';
import type { Surroundings } from '../api/surroundings.js';
import type { Transaction, TransactionOp, TransactionResult } from '../api/transaction.js';
import type {
  Acl,
  Children,
  ClientState,
  Created,
  CreateOptions,
  Data,
  Node,
  OperationOptions,
  Session,
  Stat,
  StateChange,
  VersionOptions,
  WatchEvent,
  WatchedReadOptions,
  Watcher,
} from '../api/values.js';
import type { TypedClient, TypedViewOptions, ViewOptions } from '../api/views.js';
import { adapted } from '../helpers/adapted-client.js';
import { GuaranteedDeletions } from '../helpers/delete-guaranteed.js';
import { fenced } from '../helpers/fenced.js';
import { ChildLister } from '../helpers/list-children.js';
import { namespaced } from '../helpers/namespaced-client.js';
import { Offer } from '../helpers/offer.js';
import { type Asked, type ProbeAnswer, probeOperation } from '../helpers/operation-probe.js';
import { TransactionBuilder } from '../helpers/transaction-builder.js';
import { credentialOf } from '../session/options-check.js';
import type { SessionKeeper } from '../session/session-keeper.js';
import { waitConnected } from '../session/wait-connected.js';
import { WatchOperations } from '../watches/watch-operations.js';
import type { WatchRegistry } from '../watches/watch-registry.js';
import { watchStream } from '../watches/watch-stream.js';
import { parseConnectString } from '../wire/connect-string.js';
import type { Dial } from '../wire/link.js';
import type { TlsSource } from '../wire/tls-source.js';
import { pathError, sequenceError, watcherError } from './argument-check.js';
import { Reads } from './reads.js';
import { SessionWatchChannel } from './watch-channel.js';
import { Writes } from './writes.js';

const CONFIG_PATH = '/zookeeper/config';

export interface SessionClientOptions {
  readonly keeper: SessionKeeper;
  readonly registry: WatchRegistry;
  readonly operationTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly dial: Dial;
  readonly tls: TlsSource;
  readonly name: string;
  readonly log: Log;
}

export class SessionClient implements Client {
  readonly prefix = '';
  readonly #options: SessionClientOptions;
  readonly #keeper: SessionKeeper;
  readonly #reads: Reads;
  readonly #writes: Writes;
  readonly #watches: WatchOperations;
  readonly #deletions: GuaranteedDeletions;
  readonly #lister: ChildLister;
  readonly #raises: Offer;

  constructor(options: SessionClientOptions) {
    const { keeper, registry } = options;
    this.#options = options;
    this.#keeper = keeper;
    this.#watches = new WatchOperations(registry, new SessionWatchChannel(keeper));
    this.#reads = new Reads({ keeper, registry, watches: this.#watches });
    this.#writes = new Writes(keeper);
    this.#deletions = new GuaranteedDeletions(this);
    this.#lister = new ChildLister(this, {
      getPage: (page, operation) => this.#reads.childrenPage(page, operation),
      probe: () => this.#probe('pages'),
    });
    this.#raises = new Offer(this, () => this.#probe('raisedSequences'));
  }

  get state(): ClientState {
    return this.#keeper.states.state;
  }

  get session(): Session | null {
    return this.#keeper.session;
  }

  get readOnly(): boolean {
    return this.#keeper.readOnly;
  }

  get server(): string | null {
    return this.#keeper.server;
  }

  get lastZxidSeen(): bigint {
    return this.#keeper.lastZxidSeen;
  }

  get surroundings(): Surroundings {
    return this.#keeper.surroundings;
  }

  get log(): Log {
    return this.#options.log;
  }

  get name(): string {
    return this.#options.name;
  }

  get outstandingCount(): number {
    return this.#keeper.outstandingCount;
  }

  get deletionCount(): number {
    return this.#deletions.size;
  }

  get watchCount(): number {
    return this.#options.registry.size;
  }

  connected(options: OperationOptions = {}): Promise<Session> {
    const { timeoutMs = this.#options.operationTimeoutMs } = options;
    return waitConnected({ ...options, timeoutMs, keeper: this.#keeper });
  }

  onState(listener: (change: StateChange) => void): () => void {
    return this.#keeper.states.on(listener);
  }

  states(options?: { readonly signal?: AbortSignal }): AsyncIterable<StateChange> {
    return this.#keeper.states.iterate(options?.signal);
  }

  create(path: string, data?: Data, options?: CreateOptions): Promise<Created> {
    return this.#writes.create(path, data, options);
  }

  delete(path: string, options?: VersionOptions): Promise<void> {
    return this.#writes.delete(path, options);
  }

  exists(path: string, options?: WatchedReadOptions): Promise<Stat | null> {
    return this.#reads.exists(path, options);
  }

  getData(path: string, options?: WatchedReadOptions): Promise<Node> {
    return this.#reads.getData(path, options);
  }

  setData(path: string, data: Data, options?: VersionOptions): Promise<Stat> {
    return this.#writes.setData(path, data, options);
  }

  getChildren(path: string, options?: WatchedReadOptions): Promise<Children> {
    return this.#reads.getChildren(path, options);
  }

  listChildren(path: string, options?: ListOptions): AsyncIterable<string> {
    return this.#lister.list(path, options);
  }

  getAcl(path: string, options?: OperationOptions): Promise<{ acl: readonly Acl[]; stat: Stat }> {
    return this.#reads.getAcl(path, options);
  }

  setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat> {
    return this.#writes.setAcl(path, acl, options);
  }

  raisesSequences(options?: OperationOptions): Promise<boolean> {
    return this.#raises.ask(options);
  }

  async raiseSequence(path: string, atLeast: number, options?: OperationOptions): Promise<number> {
    const error = pathError(path) ?? sequenceError(path, atLeast);
    if (error !== null) throw error;
    const { id: session } = await this.connected(options);
    if (await this.#raises.ask(options)) {
      // Another session may be served by other servers, which would close the connection.
      return await this.#writes.raiseSequence(path, atLeast, { ...options, session });
    }
    if (this.session?.id !== session) throw new SessionExpiredError(path);
    throw new UnimplementedError(path);
  }

  sync(path: string, options?: OperationOptions): Promise<void> {
    return this.#writes.sync(path, options);
  }

  multi(ops: readonly TransactionOp[], options?: OperationOptions): Promise<TransactionResult[]> {
    return this.#writes.multi(ops, options);
  }

  transaction(): Transaction {
    return new TransactionBuilder(this);
  }

  multiRead(ops: readonly ReadOp[], options?: OperationOptions): Promise<ReadResult[]> {
    return this.#reads.multiRead(ops, options);
  }

  getEphemerals(prefix?: string, options?: OperationOptions): Promise<readonly string[]> {
    return this.#reads.getEphemerals(prefix, options);
  }

  countDescendants(path: string, options?: OperationOptions): Promise<number> {
    return this.#reads.countDescendants(path, options);
  }

  whoAmI(options?: OperationOptions): Promise<readonly ClientInfo[]> {
    return this.#reads.whoAmI(options);
  }

  addAuth(scheme: string, auth: Uint8Array | string, options?: OperationOptions): Promise<void> {
    return this.#keeper.addAuth(credentialOf(scheme, auth), options);
  }

  getConfig(options?: WatchedReadOptions): Promise<Node> {
    return this.#reads.getData(CONFIG_PATH, options);
  }

  reconfig(change: Reconfiguration, options?: OperationOptions): Promise<Node> {
    return this.#writes.reconfig(change, options);
  }

  addWatch(path: string, watcher: Watcher, options?: AddWatchOptions): Promise<WatchHandle> {
    const error = watcherError(path, watcher);
    return error === null ? this.#watches.addWatch(path, watcher, options) : Promise.reject(error);
  }

  removeWatcher(path: string, watcher: Watcher): void {
    this.#watches.removeWatcher(path, watcher);
  }

  removeWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void> {
    return this.#watches.removeWatches(path, type, options);
  }

  checkWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void> {
    return this.#watches.checkWatches(path, type, options);
  }

  watch(path: string, options?: WatchStreamOptions): AsyncIterable<WatchEvent> {
    return watchStream(this, path, options);
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
    return adapted(this, options);
  }

  updateServers(connectString: string): void {
    this.#keeper.updateServers(parseConnectString(connectString).servers);
  }

  updateTls(tls: TlsOptions | boolean): void {
    this.#options.tls.update(tls);
  }

  deleteGuaranteed(path: string, options?: { readonly session?: bigint }): Promise<void> {
    return this.#deletions.add(path, options);
  }

  close(): Promise<void> {
    return this.#keeper.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#keeper.close();
  }

  /** Probes the member that the client is connected to. */
  #probe(asked: Asked): Promise<ProbeAnswer> {
    const { address } = this.#keeper;
    if (address === null) return Promise.resolve('unknown');
    const { dial, connectTimeoutMs: timeoutMs } = this.#options;
    return probeOperation({ asked, address, dial, surroundings: this.surroundings, timeoutMs });
  }
}
