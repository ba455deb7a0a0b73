/**
 * The interface of a client: what connect() gives, what namespaces wrap, what recipes stand on.
 *
 * Promises that hold for every operation: it settles exactly once; operations are sent in the order
 * of the calls and answered in that order; one that fails with `ambiguous` may have taken effect,
 * one without has not; nothing is ever sent twice by the client itself. Types only.
 */
import type { AddWatchMode, ClientInfo, WatcherType } from '@rookery/protocol';
import type { Lease } from './lease.js';
import type { Log } from './logger.js';
import type { Surroundings } from './surroundings.js';
import type { Transaction, TransactionOp, TransactionResult } from './transaction.js';
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
} from './values.js';
import type { TypedClient, TypedViewOptions, ViewOptions } from './views.js';

export interface Client extends AsyncDisposable {
  readonly state: ClientState;
  /** The session, null before the first one and between a lost one and the next. */
  readonly session: Session | null;
  /** True while connected to a member that has lost its quorum and serves reads only. */
  readonly readOnly: boolean;
  /** The member connected to, "host:port", or null. */
  readonly server: string | null;
  /** The highest zxid of any reply; a resumed or new connection never shows an older state. */
  readonly lastZxidSeen: bigint;
  /** The `name` option, which tells this client's messages and metrics from those of others. */
  readonly name: string;
  /** Path prefix of this view: chroot and namespaces, '' for none. */
  readonly prefix: string;
  /** Clock, timers and randomness, for recipes; a test's are its own. */
  readonly surroundings: Surroundings;
  /** Where the client and its recipes say what an operator should know: the `logger` option. */
  readonly log: Log;

  /** Resolves with the session once there is one and it is connected; at once if so already. */
  connected(options?: OperationOptions): Promise<Session>;
  /** Calls back on each change of state, in order; gives what undoes it. */
  onState(listener: (change: StateChange) => void): () => void;
  /** The same as an iterator that starts with the present state and ends after 'closed'. */
  states(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<StateChange>;

  /** NodeExistsError, NoNodeError (parent), NoChildrenForEphemeralsError, InvalidAclError... */
  create(path: string, data?: Data, options?: CreateOptions): Promise<Created>;
  delete(path: string, options?: VersionOptions): Promise<void>;
  /** Null when there is no such znode; a watcher then waits for its creation. */
  exists(path: string, options?: WatchedReadOptions): Promise<Stat | null>;
  getData(path: string, options?: WatchedReadOptions): Promise<Node>;
  setData(path: string, data: Data, options?: VersionOptions): Promise<Stat>;
  getChildren(path: string, options?: WatchedReadOptions): Promise<Children>;
  /**
   * All names in code-unit order, page by page, so that a directory larger than a frame can be
   * listed while it changes: a name that stays is given exactly once. Needs Rookery; on another
   * server, which answers UnimplementedError once, falls back to one getChildren, sorted.
   */
  listChildren(path: string, options?: ListOptions): AsyncIterable<string>;
  getAcl(path: string, options?: OperationOptions): Promise<{ acl: readonly Acl[]; stat: Stat }>;
  setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat>;
  /** What is read after it is at least as new as all that was committed when it was called. */
  sync(path: string, options?: OperationOptions): Promise<void>;
  /** All or nothing; fails with TransactionError, which tells the operation at fault. */
  multi(ops: readonly TransactionOp[], options?: OperationOptions): Promise<TransactionResult[]>;
  /** The same by a builder: transaction().create(...).setData(...).commit(). */
  transaction(): Transaction;
  /** Each of them read at one zxid; an operation's error stands at its place. */
  multiRead(ops: readonly ReadOp[], options?: OperationOptions): Promise<ReadResult[]>;
  /** Paths of this session's ephemeral znodes that start with the prefix. */
  getEphemerals(prefix?: string, options?: OperationOptions): Promise<readonly string[]>;
  /** The number of all znodes below the path. */
  countDescendants(path: string, options?: OperationOptions): Promise<number>;
  whoAmI(options?: OperationOptions): Promise<readonly ClientInfo[]>;
  /**
   * For this and every later connection. AuthFailedError ends the client, as the protocol has it.
   */
  addAuth(scheme: string, auth: Uint8Array | string, options?: OperationOptions): Promise<void>;
  /** The ensemble's configuration, /zookeeper/config, whatever the prefix. */
  getConfig(options?: WatchedReadOptions): Promise<Node>;
  reconfig(change: Reconfiguration, options?: OperationOptions): Promise<Node>;

  /**
   * A persistent watch: called for every change of the path (and, recursive, of all below it, then
   * without 'childrenChanged') until removed, with 'resync' after a connection or session in which
   * changes may have been missed, and once with 'closed' at the end. Survives lost sessions.
   */
  addWatch(path: string, watcher: Watcher, options?: AddWatchOptions): Promise<WatchHandle>;
  /**
   * Takes back one watcher of a read; the server is told when it was the last of its kind there.
   */
  removeWatcher(path: string, watcher: Watcher): void;
  /** Removes all watchers of a type; NoWatcherError when there is none. */
  removeWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void>;
  checkWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void>;
  /**
   * The events of a persistent watch as an iterator with a bounded queue; on overflow the queue is
   * replaced by one 'resync'. Ends when the signal is aborted or the loop is left, with the watch
   * removed; throws ClientClosedError when the client closes.
   */
  watch(path: string, options?: WatchStreamOptions): AsyncIterable<WatchEvent>;
  /** How many watchers are registered, of all kinds. */
  readonly watchCount: number;
  /** How many operations are not settled: queued or in flight, at most `outstandingMax`. */
  readonly outstandingCount: number;

  /** Commits only if the lease's own znode still stands; else LeaseLostError. */
  fenced(
    lease: Lease,
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]>;

  /** A view in which `path` is the root: its session, watches and close() are this client's. */
  namespace(path: string): Client;
  /**
   * A view with defaults of its own, for the same paths; its session, watches and close() are this
   * client's. With a codec, for znodes whose data are values of one kind.
   */
  with<T, In>(options: TypedViewOptions<T, In>): TypedClient<T, In>;
  with(options: ViewOptions): Client;
  /** Replaces the servers; moves to one of them if the present one is not among them. */
  updateServers(connectString: string): void;
  /**
   * Deletes in the background until it is done or the session is over (an ephemeral is then gone by
   * itself; for others: until the client closes). For what must not be orphaned by a lost reply.
   */
  deleteGuaranteed(
    path: string,
    options?: { readonly session?: bigint | undefined },
  ): Promise<void>;
  /** How many guaranteed deletions are not done yet. */
  readonly deletionCount: number;
  /** Ends the session, so that its ephemeral znodes go at once; idempotent; bounded in time. */
  close(): Promise<void>;
}

export interface ListOptions extends OperationOptions {
  /** Names to ask for at a time, 1 to 100,000; default 10,000. */
  readonly pageSize?: number | undefined;
}

export interface AddWatchOptions extends OperationOptions {
  readonly recursive?: boolean | undefined;
}

export interface WatchStreamOptions extends AddWatchOptions {
  /** Events that may wait; default 1024. */
  readonly capacity?: number | undefined;
}

export interface WatchHandle {
  readonly path: string;
  readonly mode: AddWatchMode;
  /** Idempotent; after it the watcher is not called again. */
  remove(): Promise<void>;
}

export type ReadOp =
  | { readonly kind: 'getData'; readonly path: string }
  | { readonly kind: 'getChildren'; readonly path: string };

export type ReadResult =
  | { readonly kind: 'getData'; readonly data: Buffer | null; readonly stat: Stat }
  | { readonly kind: 'getChildren'; readonly children: readonly string[] }
  | { readonly kind: 'error'; readonly error: Error };

export interface Reconfiguration {
  readonly joining?: string | undefined;
  readonly leaving?: string | undefined;
  readonly members?: string | undefined;
  /** The configuration it is based on; any by default. */
  readonly fromConfig?: bigint | undefined;
}
