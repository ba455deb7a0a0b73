/**
 * A client that delegates every call to another one, as the base of views that change a few
 * operations. It owns nothing.
 */
import type { ClientInfo, WatcherType } from '@rookery/protocol';
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
import { watchStream } from '../watches/watch-stream.js';
import { TransactionBuilder } from './transaction-builder.js';

export abstract class DelegatingClient implements Client {
  readonly base: Client;

  constructor(base: Client) {
    this.base = base;
  }

  get state(): ClientState {
    return this.base.state;
  }

  get session(): Session | null {
    return this.base.session;
  }

  get readOnly(): boolean {
    return this.base.readOnly;
  }

  get server(): string | null {
    return this.base.server;
  }

  get lastZxidSeen(): bigint {
    return this.base.lastZxidSeen;
  }

  get name(): string {
    return this.base.name;
  }

  get prefix(): string {
    return this.base.prefix;
  }

  get log(): Log {
    return this.base.log;
  }

  get surroundings(): Surroundings {
    return this.base.surroundings;
  }

  get outstandingCount(): number {
    return this.base.outstandingCount;
  }

  get deletionCount(): number {
    return this.base.deletionCount;
  }

  get watchCount(): number {
    return this.base.watchCount;
  }

  connected(options?: OperationOptions): Promise<Session> {
    return this.base.connected(options);
  }

  onState(listener: (change: StateChange) => void): () => void {
    return this.base.onState(listener);
  }

  states(options?: { readonly signal?: AbortSignal }): AsyncIterable<StateChange> {
    return this.base.states(options);
  }

  create(path: string, data?: Data, options?: CreateOptions): Promise<Created> {
    return this.base.create(path, data, options);
  }

  delete(path: string, options?: VersionOptions): Promise<void> {
    return this.base.delete(path, options);
  }

  exists(path: string, options?: WatchedReadOptions): Promise<Stat | null> {
    return this.base.exists(path, options);
  }

  getData(path: string, options?: WatchedReadOptions): Promise<Node> {
    return this.base.getData(path, options);
  }

  setData(path: string, data: Data, options?: VersionOptions): Promise<Stat> {
    return this.base.setData(path, data, options);
  }

  getChildren(path: string, options?: WatchedReadOptions): Promise<Children> {
    return this.base.getChildren(path, options);
  }

  listChildren(path: string, options?: ListOptions): AsyncIterable<string> {
    return this.base.listChildren(path, options);
  }

  getAcl(path: string, options?: OperationOptions): Promise<{ acl: readonly Acl[]; stat: Stat }> {
    return this.base.getAcl(path, options);
  }

  setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat> {
    return this.base.setAcl(path, acl, options);
  }

  raisesSequences(options?: OperationOptions): Promise<boolean> {
    return this.base.raisesSequences(options);
  }

  raiseSequence(path: string, atLeast: number, options?: OperationOptions): Promise<number> {
    return this.base.raiseSequence(path, atLeast, options);
  }

  sync(path: string, options?: OperationOptions): Promise<void> {
    return this.base.sync(path, options);
  }

  multi(ops: readonly TransactionOp[], options?: OperationOptions): Promise<TransactionResult[]> {
    return this.base.multi(ops, options);
  }

  multiRead(ops: readonly ReadOp[], options?: OperationOptions): Promise<ReadResult[]> {
    return this.base.multiRead(ops, options);
  }

  getEphemerals(prefix?: string, options?: OperationOptions): Promise<readonly string[]> {
    return this.base.getEphemerals(prefix, options);
  }

  countDescendants(path: string, options?: OperationOptions): Promise<number> {
    return this.base.countDescendants(path, options);
  }

  whoAmI(options?: OperationOptions): Promise<readonly ClientInfo[]> {
    return this.base.whoAmI(options);
  }

  addAuth(scheme: string, auth: Uint8Array | string, options?: OperationOptions): Promise<void> {
    return this.base.addAuth(scheme, auth, options);
  }

  getConfig(options?: WatchedReadOptions): Promise<Node> {
    return this.base.getConfig(options);
  }

  reconfig(change: Reconfiguration, options?: OperationOptions): Promise<Node> {
    return this.base.reconfig(change, options);
  }

  addWatch(path: string, watcher: Watcher, options?: AddWatchOptions): Promise<WatchHandle> {
    return this.base.addWatch(path, watcher, options);
  }

  /** Uses addWatch(), including one that a subclass overrides. */
  watch(path: string, options?: WatchStreamOptions): AsyncIterable<WatchEvent> {
    return watchStream(this, path, options);
  }

  /** Uses multi(), including one that a subclass overrides. */
  transaction(): Transaction {
    return new TransactionBuilder(this);
  }

  abstract fenced(
    lease: Lease,
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]>;

  abstract namespace(path: string): Client;

  abstract with<T, In>(options: TypedViewOptions<T, In>): TypedClient<T, In>;
  abstract with(options: ViewOptions): Client;

  removeWatcher(path: string, watcher: Watcher): void {
    this.base.removeWatcher(path, watcher);
  }

  removeWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void> {
    return this.base.removeWatches(path, type, options);
  }

  checkWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void> {
    return this.base.checkWatches(path, type, options);
  }

  updateServers(connectString: string): void {
    this.base.updateServers(connectString);
  }

  updateTls(tls: TlsOptions | boolean): void {
    this.base.updateTls(tls);
  }

  deleteGuaranteed(path: string, options?: { readonly session?: bigint }): Promise<void> {
    return this.base.deleteGuaranteed(path, options);
  }

  close(): Promise<void> {
    return this.base.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.base.close();
  }
}
