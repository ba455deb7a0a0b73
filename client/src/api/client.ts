/**
 * The interface of a client: connect() returns it, namespaces wrap it, and recipes build on it.
 *
 * These promises hold for every operation. It settles exactly once. Operations are sent, and
 * answered, in the order of the calls. An operation that fails with `ambiguous` set may have taken
 * effect; any other failed operation has not. The client itself never sends an operation twice.
 * Types only.
 */
import type { AddWatchMode, ClientInfo, WatcherType } from '@rookery/protocol';
import type { Lease } from './lease.js';
import type { Log } from './logger.js';
import type { TlsOptions } from './options.js';
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
  /**
   * The current session. Null before the first one, and between a lost session and the next one.
   */
  readonly session: Session | null;
  /**
   * True while the client is connected to a member that has lost its quorum and only serves reads.
   */
  readonly readOnly: boolean;
  /** The member that the client is connected to, as "host:port", or null. */
  readonly server: string | null;
  /** The highest zxid in any reply so far. No later connection shows a state older than this. */
  readonly lastZxidSeen: bigint;
  /** The `name` option, which distinguishes this client in log messages and metrics. */
  readonly name: string;
  /** The path prefix of this view, which is the chroot and all namespaces together; '' if none. */
  readonly prefix: string;
  /** The clock, timers and randomness that recipes use. Tests substitute their own. */
  readonly surroundings: Surroundings;
  /**
   * The log in which the client and its recipes report what operators should know; see `logger`.
   */
  readonly log: Log;

  /**
   * Resolves with the session as soon as the client is connected, at once if it already is. Rejects
   * with OperationTimeoutError after `timeoutMs`, by default `operationTimeoutMs`, with
   * OperationAbortedError, with ClientClosedError or the error that has closed the client, and with
   * SessionExpiredError if there can be no further session or not the one that was asked for.
   */
  connected(options?: OperationOptions): Promise<Session>;
  /** Calls the listener on each change of state, in order. Returns a function that removes it. */
  onState(listener: (change: StateChange) => void): () => void;
  /** The states as an iterator, which starts with the current state and ends after 'closed'. */
  states(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<StateChange>;

  /**
   * Creates a znode. Rejects with NodeExistsError, NoNodeError (the parent is missing),
   * NoChildrenForEphemeralsError, InvalidAclError and others.
   */
  create(path: string, data?: Data, options?: CreateOptions): Promise<Created>;
  delete(path: string, options?: VersionOptions): Promise<void>;
  /** Resolves with null if there is no such znode; a watcher then waits for its creation. */
  exists(path: string, options?: WatchedReadOptions): Promise<Stat | null>;
  getData(path: string, options?: WatchedReadOptions): Promise<Node>;
  setData(path: string, data: Data, options?: VersionOptions): Promise<Stat>;
  getChildren(path: string, options?: WatchedReadOptions): Promise<Children>;
  /**
   * Iterates over all names in code-unit order, page by page, so a directory larger than a frame
   * can be listed while it changes. A child that exists throughout is listed exactly once. This
   * needs Rookery. Of a large directory the client first finds out whether the server has pages,
   * once for each session and by a connection of its own. Without pages, it sends a single
   * getChildren and sorts the names. Throws NoNodeError if there is no such znode.
   */
  listChildren(path: string, options?: ListOptions): AsyncIterable<string>;
  getAcl(path: string, options?: OperationOptions): Promise<{ acl: readonly Acl[]; stat: Stat }>;
  /** The `version` of the options is that of the ACL, the `aversion` of the Stat. */
  setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat>;
  /**
   * Whether `raiseSequence` is offered: the server is Rookery, and all of its members support it.
   * The client probes once per session, on a separate connection, without changing a znode.
   * Resolves with false if there is no clear answer.
   */
  raisesSequences(options?: OperationOptions): Promise<boolean>;
  /**
   * Raises the number that the next sequential child gets to at least `atLeast`, from 0 to
   * 2147483646, and resolves with the number, which is below 0 if it was beyond 2147483647 before.
   * Requires CREATE and DELETE on the znode, and may be repeated. Rejects with UnimplementedError,
   * and changes nothing, where it is not offered (see `raisesSequences`).
   */
  raiseSequence(path: string, atLeast: number, options?: OperationOptions): Promise<number>;
  /** Later reads on this client are at least as new as everything committed before this call. */
  sync(path: string, options?: OperationOptions): Promise<void>;
  /**
   * Applies all operations or none. Rejects with TransactionError, which names the one that failed.
   */
  multi(ops: readonly TransactionOp[], options?: OperationOptions): Promise<TransactionResult[]>;
  /** Builds the same as `multi`: transaction().create(...).setData(...).commit(). */
  transaction(): Transaction;
  /**
   * Reads several znodes at one zxid. An operation that fails has its error at its index. Needs
   * ZooKeeper 3.6 or Rookery, as getEphemerals() and countDescendants() do.
   */
  multiRead(ops: readonly ReadOp[], options?: OperationOptions): Promise<ReadResult[]>;
  /**
   * Resolves with the paths of this session's ephemeral znodes that start with the prefix. Rookery
   * rejects it with QuotaExceededError, whatever the prefix, if the session has more than 32,768 of
   * them, or paths of more than 4 MB.
   */
  getEphemerals(prefix?: string, options?: OperationOptions): Promise<readonly string[]>;
  /** Resolves with the number of all znodes below the path, at any depth. */
  countDescendants(path: string, options?: OperationOptions): Promise<number>;
  /**
   * Resolves with the identities by which the server knows this client. Needs ZooKeeper 3.7 or
   * Rookery.
   */
  whoAmI(options?: OperationOptions): Promise<readonly ClientInfo[]>;
  /**
   * Authenticates this and every later connection. An AuthFailedError closes the client, as the
   * protocol requires.
   */
  addAuth(scheme: string, auth: Uint8Array | string, options?: OperationOptions): Promise<void>;
  /** Reads the configuration of the ensemble from /zookeeper/config, whatever the prefix is. */
  getConfig(options?: WatchedReadOptions): Promise<Node>;
  /**
   * Changes the list of members of a ZooKeeper ensemble and resolves with the new configuration.
   * Rookery refuses it with ReconfigDisabledError or UnimplementedError.
   */
  reconfig(change: Reconfiguration, options?: OperationOptions): Promise<Node>;

  /**
   * Adds a persistent watch. The watcher is called for every change of the path until it is
   * removed. A recursive one is also called for every change below the path, but never with
   * 'childrenChanged'. It is called with 'resync' when changes may have been missed, because the
   * connection or the session was replaced, and once when it has ended (EndEvent). It survives the
   * loss of a session unless `renewSession` is false. Needs ZooKeeper 3.6 or Rookery.
   */
  addWatch(path: string, watcher: Watcher, options?: AddWatchOptions): Promise<WatchHandle>;
  /**
   * Removes one watcher that a read has left. The server is told if it was the last of its kind
   * there.
   */
  removeWatcher(path: string, watcher: Watcher): void;
  /** Removes all watchers of a type. Rejects with NoWatcherError if there is none. */
  removeWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void>;
  /**
   * Rejects with NoWatcherError if the server has no watch of this type and path. ZooKeeper 3.8
   * also counts those of other clients.
   */
  checkWatches(path: string, type: WatcherType, options?: OperationOptions): Promise<void>;
  /**
   * The events of a persistent watch as an iterator with a bounded queue. If the queue overflows, a
   * single 'resync' replaces it. The watch is removed when the loop is left or the signal is
   * aborted, which ends the loop. Throws ClientClosedError when the client closes,
   * SessionExpiredError if no session follows a lost one, NoWatcherError if removeWatches() has
   * removed the watch, and the errors of addWatch().
   */
  watch(path: string, options?: WatchStreamOptions): AsyncIterable<WatchEvent>;
  /** The number of registered watchers of all kinds. */
  readonly watchCount: number;
  /** The number of operations that are queued or in flight, at most `outstandingMax`. */
  readonly outstandingCount: number;

  /**
   * Commits `ops` in one transaction, but only if the lease still stands at the server; otherwise
   * rejects with LeaseLostError. Rejects with the reason of the lease's signal, without sending
   * anything, if that is aborted, and with TransactionError if one of `ops` fails.
   */
  fenced(
    lease: Lease,
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]>;

  /**
   * Returns a view in which `path` is the root. It shares the session, the watches and close() with
   * this client. It does not create the path: ensurePath(view, '/') does. Throws OptionError for a
   * path that is not legal.
   */
  namespace(path: string): Client;
  /**
   * Returns a view of the same paths with its own defaults. It shares the session, the watches and
   * close() with this client. With a codec, it reads and writes the data of znodes as values.
   */
  with<T, In>(options: TypedViewOptions<T, In>): TypedClient<T, In>;
  with(options: ViewOptions): Client;
  /**
   * Replaces the list of servers. If the current server is not in it, the client moves to one that
   * is. The chroot stays as it was: one in `connectString` is ignored. Throws ConnectStringError.
   */
  updateServers(connectString: string): void;
  /**
   * Replaces the `tls` option, all of it, for the connections that are made from now on, as after a
   * certificate or an authority was renewed. The present connection and the session stay. Files
   * that the option names are read again for each connection without it. Throws OptionError, and
   * keeps what there was, for a key without its certificate or what else TLS cannot use.
   */
  updateTls(tls: TlsOptions | boolean): void;
  /**
   * Deletes the znode in the background, and retries after problems of the connection. With a
   * `session`, it ends with that session, which takes an ephemeral znode with it; without one, it
   * goes on until the client closes. Use it for znodes that a lost reply must not leave behind, and
   * whose names are not used again. Resolves when the znode does not exist or the given session is
   * over. Rejects with an error of the server, such as NotEmptyError, with ClientClosedError, and
   * with TooManyOutstandingError; a rejection need not be handled.
   */
  deleteGuaranteed(
    path: string,
    options?: { readonly session?: bigint | undefined },
  ): Promise<void>;
  /** The number of guaranteed deletions that are not done yet. */
  readonly deletionCount: number;
  /**
   * Ends the session, so its ephemeral znodes are deleted at once; if no server can be reached,
   * they are deleted when the session expires. It takes at most 5 s, or `connectTimeoutMs` if that
   * is shorter. Calling it again has no effect.
   */
  close(): Promise<void>;
}

export interface ListOptions extends OperationOptions {
  /** How many names one request asks for, 1 to 100,000; default 10,000. */
  readonly pageSize?: number | undefined;
  /** Only names that come behind this one in code-unit order; default all. */
  readonly startAfter?: string | undefined;
}

export interface AddWatchOptions extends OperationOptions {
  /** Whether to watch everything below the path, too; default false. */
  readonly recursive?: boolean | undefined;
}

export interface WatchStreamOptions extends AddWatchOptions {
  /** How many events may wait to be read; default 1024. */
  readonly capacity?: number | undefined;
}

export interface WatchHandle {
  readonly path: string;
  readonly mode: AddWatchMode;
  /** Removes the watch. The watcher is never called afterwards. Calling it again has no effect. */
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
  /** The version of the configuration that this change is based on; any by default. */
  readonly fromConfig?: bigint | undefined;
}
