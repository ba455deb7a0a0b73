/**
 * The operations of a fake client, each as a request to the FakeServer. The subclass decides how
 * requests arrive and how they are lost. What is built on other operations (transactions,
 * namespaces, fenced, guaranteed deletion, streams) is the product's code. Only for tests.
 */
import {
  type ClientInfo,
  KeeperError,
  ReconfigDisabledError,
  RuntimeInconsistencyError,
  UnimplementedError,
  type WatcherType,
} from '@rookery/protocol';
import type {
  AddWatchOptions,
  Client,
  ListOptions,
  ReadOp,
  ReadResult,
  WatchHandle,
  WatchStreamOptions,
} from '../api/client.js';
import { TransactionError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import type { Log } from '../api/logger.js';
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
import { namespaced } from '../helpers/namespaced-client.js';
import { TransactionBuilder } from '../helpers/transaction-builder.js';
import type { WatchRegistry } from '../watches/watch-registry.js';
import { watchStream } from '../watches/watch-stream.js';
import type { FakeServer } from './fake-server.js';

/** The name of the method that was called: 'create', 'delete', 'getData', ... */
export interface Sent {
  readonly op: string;
  readonly path: string;
}

export interface FakeRequest<T> extends Sent {
  readonly isWrite: boolean;
  readonly options: OperationOptions | undefined;
  /** Applies the request on the server in the name of the session. */
  apply(session: bigint): T;
  /** Handles the reply before its promise is settled. */
  onReply?(result: T): void;
}

export abstract class FakeOperations implements Client {
  readonly prefix = '';
  readonly readOnly = false;
  readonly deletions = new GuaranteedDeletions(this);
  abstract readonly name: string;
  abstract readonly log: Log;
  abstract readonly outstandingCount: number;
  abstract readonly surroundings: Surroundings;
  abstract readonly fake: FakeServer;
  abstract readonly state: ClientState;
  abstract readonly session: Session | null;
  abstract readonly server: string | null;
  abstract readonly lastZxidSeen: bigint;
  abstract readonly watches: WatchRegistry;

  abstract request<T>(request: FakeRequest<T>): Promise<T>;
  abstract onState(listener: (change: StateChange) => void): () => void;
  abstract close(): Promise<void>;
  abstract addWatch(
    path: string,
    watcher: Watcher,
    options?: AddWatchOptions,
  ): Promise<WatchHandle>;

  get deletionCount(): number {
    return this.deletions.size;
  }

  get watchCount(): number {
    return this.watches.size;
  }

  async connected(options?: OperationOptions): Promise<Session> {
    return await this.request({
      op: 'connected',
      path: '/',
      isWrite: false,
      options,
      apply: () => {
        if (this.session === null) throw new Error('connected without a session');
        return this.session;
      },
    });
  }

  async *states(): AsyncGenerator<StateChange> {
    const changes: StateChange[] = [];
    let wake = () => {};
    const stop = this.onState((change) => {
      changes.push(change);
      wake();
    });
    const sessionId = this.session?.id ?? null;
    yield { state: this.state, sessionId, newSession: false, readOnly: false, error: null };
    try {
      for (;;) {
        const change = changes.shift();
        if (change === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        yield change;
        if (change.state === 'closed') return;
      }
    } finally {
      stop();
    }
  }

  create(path: string, data: Data = null, options: CreateOptions = {}): Promise<Created> {
    const { mode = 'persistent', acl } = options;
    return this.#write('create', path, options, (session) =>
      this.fake.create({ path, data, mode, acl, session }),
    );
  }

  delete(path: string, options: VersionOptions = {}): Promise<void> {
    return this.#write('delete', path, options, () => this.fake.delete(path, options.version));
  }

  exists(path: string, options: WatchedReadOptions = {}): Promise<Stat | null> {
    const { watcher } = options;
    return this.request({
      op: 'exists',
      path,
      isWrite: false,
      options,
      apply: () => this.fake.stat(path),
      onReply: (stat) => {
        if (watcher !== undefined)
          this.watches.add(stat === null ? 'exist' : 'data', path, watcher);
      },
    });
  }

  getData(path: string, options: WatchedReadOptions = {}): Promise<Node> {
    return this.#read('getData', path, options, () => this.fake.read(path));
  }

  setData(path: string, data: Data, options: VersionOptions = {}): Promise<Stat> {
    return this.#write('setData', path, options, () =>
      this.fake.setData(path, data, options.version),
    );
  }

  getChildren(path: string, options: WatchedReadOptions = {}): Promise<Children> {
    return this.#read('getChildren', path, options, () => this.#childrenOf(path));
  }

  async *listChildren(path: string, options?: ListOptions): AsyncGenerator<string, void> {
    yield* (await this.getChildren(path, options)).children;
  }

  async getAcl(
    path: string,
    options: OperationOptions = {},
  ): Promise<{ acl: readonly Acl[]; stat: Stat }> {
    return await this.#read('getAcl', path, options, () => {
      return { acl: this.fake.acl(path), stat: this.fake.read(path).stat };
    });
  }

  async setAcl(path: string, acl: readonly Acl[], options: VersionOptions = {}): Promise<Stat> {
    const { version } = options;
    return await this.#write('setAcl', path, options, () => this.fake.setAcl(path, acl, version));
  }

  /** The fake server does not support it. */
  async raisesSequences(): Promise<boolean> {
    return false;
  }

  async raiseSequence(path: string): Promise<number> {
    throw new UnimplementedError(path);
  }

  async sync(path: string, options: OperationOptions = {}): Promise<void> {
    await this.#write('sync', path, options, () => undefined);
  }

  async multi(
    ops: readonly TransactionOp[],
    options: OperationOptions = {},
  ): Promise<TransactionResult[]> {
    const path = ops[0]?.path ?? '/';
    const outcome = await this.#write('multi', path, options, (session) =>
      this.fake.multi(ops, session),
    );
    if (outcome.kind === 'done') return outcome.results;
    const { failedIndex, error } = outcome;
    const results = ops.map((op, index) => {
      if (index < failedIndex) return null;
      return index === failedIndex ? error : new RuntimeInconsistencyError(op.path);
    });
    throw new TransactionError(failedIndex, error, results);
  }

  transaction(): Transaction {
    return new TransactionBuilder(this);
  }

  multiRead(ops: readonly ReadOp[], options: OperationOptions = {}): Promise<ReadResult[]> {
    return this.#read('multiRead', ops[0]?.path ?? '/', options, () =>
      ops.map((op) => this.#readOne(op)),
    );
  }

  getEphemerals(prefix = '/', options: OperationOptions = {}): Promise<readonly string[]> {
    return this.#write('getEphemerals', prefix, options, (session) =>
      this.fake.ephemeralsOf(session).filter((path) => path.startsWith(prefix)),
    );
  }

  countDescendants(path: string, options: OperationOptions = {}): Promise<number> {
    return this.#read('countDescendants', path, options, () => {
      this.fake.read(path);
      return this.fake.paths().filter((other) => other.startsWith(`${path}/`)).length;
    });
  }

  async whoAmI(): Promise<readonly ClientInfo[]> {
    return [{ authScheme: 'ip', user: '127.0.0.1' }];
  }

  async addAuth(): Promise<void> {
    // The fake server lets everybody do everything.
  }

  getConfig(options?: WatchedReadOptions): Promise<Node> {
    return this.getData('/zookeeper/config', options);
  }

  async reconfig(): Promise<Node> {
    throw new ReconfigDisabledError();
  }

  removeWatcher(path: string, watcher: Watcher): void {
    this.watches.remove(path, watcher);
  }

  removeWatches(path: string, type: WatcherType, options: OperationOptions = {}): Promise<void> {
    return this.request({
      op: 'removeWatches',
      path,
      isWrite: false,
      options,
      apply: () => undefined,
      onReply: () => this.watches.removeAll(path, type),
    });
  }

  checkWatches(path: string, _type: WatcherType, options: OperationOptions = {}): Promise<void> {
    return this.#read('checkWatches', path, options, () => undefined);
  }

  watch(path: string, options?: WatchStreamOptions): AsyncIterable<WatchEvent> {
    return watchStream(this, path, options);
  }

  fenced(
    lease: Lease,
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]> {
    return fenced(this, { lease, ops, prefix: '' }, options);
  }

  namespace(path: string): Client {
    return namespaced(this, path);
  }

  with<T, In>(options: TypedViewOptions<T, In>): TypedClient<T, In>;
  with(options: ViewOptions): Client;
  with<T, In>(options: ViewOptions | TypedViewOptions<T, In>): Client | TypedClient<T, In> {
    return adapted(this, options);
  }

  updateServers(): void {
    // There is only one server.
  }

  updateTls(): void {
    // Nothing is sent over a network.
  }

  deleteGuaranteed(path: string, options?: { readonly session?: bigint }): Promise<void> {
    return this.deletions.add(path, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #childrenOf(path: string): Children {
    return { children: this.fake.children(path), stat: this.fake.read(path).stat };
  }

  #readOne(op: ReadOp): ReadResult {
    try {
      if (op.kind === 'getData') return { kind: op.kind, ...this.fake.read(op.path) };
      return { kind: op.kind, children: this.fake.children(op.path) };
    } catch (error) {
      if (error instanceof KeeperError) return { kind: 'error', error };
      throw error;
    }
  }

  #read<T>(op: string, path: string, options: WatchedReadOptions, apply: () => T): Promise<T> {
    const { watcher } = options;
    const kind = op === 'getChildren' ? 'child' : 'data';
    return this.request({
      op,
      path,
      isWrite: false,
      options,
      apply,
      onReply: () => {
        if (watcher !== undefined) this.watches.add(kind, path, watcher);
      },
    });
  }

  /** Also for reads whose result depends on the session. */
  #write<T>(
    op: string,
    path: string,
    options: OperationOptions,
    apply: (session: bigint) => T,
  ): Promise<T> {
    const isWrite = op !== 'sync' && op !== 'getEphemerals';
    return this.request({ op, path, isWrite, options, apply });
  }
}
