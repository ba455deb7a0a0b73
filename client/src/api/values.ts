/**
 * The values that operations take and return: Stat, events, sessions, options of operations.
 *
 * The types of 64-bit values are decided here for the whole API. Zxids, session ids and fencing
 * tokens are always `bigint`, because they are compared and passed on but never added up, and those
 * of ZooKeeper do not fit into a number. Times are `number`, in milliseconds since 1970; versions
 * and counts are `number`. Types only.
 */
import type { Acl, CreateFlag } from '@rookery/protocol';

export type { Acl };

/**
 * The data of a znode: bytes, a string that is sent as UTF-8, or null, which differs from zero
 * bytes.
 */
export type Data = Uint8Array | string | null;

export interface Stat {
  /**
   * The zxid of the change that created the znode. It is unique to this incarnation of the path.
   */
  readonly czxid: bigint;
  /** The zxid of the last change of the data. */
  readonly mzxid: bigint;
  /** The zxid of the last change of the children. */
  readonly pzxid: bigint;
  /**
   * When the znode was created, in milliseconds since 1970: by the clocks of a majority of the
   * members in Rookery, by the leader's clock in ZooKeeper.
   */
  readonly ctime: number;
  /** When the data was last changed, by the same clocks. */
  readonly mtime: number;
  /** The numbers of changes of the data, of the children and of the ACL. */
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** The session that an ephemeral znode belongs to, 0n for other znodes. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

/** How a znode is created; modes whose names end with `WithTtl` need `ttlMs`. */
export type CreateMode = keyof typeof CreateFlag;

export interface Created {
  /** The path as created, with the sequence number and without chroot or namespace. */
  readonly path: string;
  readonly stat: Stat;
}

export interface Node {
  /** A copy that the caller owns. */
  readonly data: Buffer | null;
  readonly stat: Stat;
}

export interface Children {
  /** The names without their path, in no particular order. */
  readonly children: readonly string[];
  readonly stat: Stat;
}

export interface OperationOptions {
  /**
   * Aborting it gives up the operation: the promise is rejected with OperationAbortedError at once.
   * A request that was already sent may still take effect, in which case the error has `ambiguous`
   * set.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time in milliseconds after which the operation fails with OperationTimeoutError, 0 for no
   * limit; by default the client's `operationTimeoutMs`. A value that is not a number, is negative
   * or is more than 2^31-1 is an OptionError.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Restricts the operation to this session. If it is no longer the client's session, the operation
   * is rejected with SessionExpiredError without being sent. An operation that depends on an
   * ephemeral znode should name the session that owns it.
   */
  readonly session?: bigint | undefined;
}

export interface CreateOptions extends OperationOptions {
  /** 'persistent' by default. */
  readonly mode?: CreateMode | undefined;
  /** OPEN_ACL by default, which grants every permission to everybody. */
  readonly acl?: readonly Acl[] | undefined;
  /**
   * How long a TTL znode without children lives after its last change, in milliseconds, 1 to
   * TTL_MAX_MS.
   */
  readonly ttlMs?: number | undefined;
}

export interface VersionOptions extends OperationOptions {
  /** The version that the znode must have, else BadVersionError; any by default. */
  readonly version?: number | undefined;
}

export interface WatchedReadOptions extends OperationOptions {
  /**
   * Leaves a one-shot watch. The watcher is called exactly once: with the first change that the
   * read did not show, or with 'lost' or 'closed' if that change can no longer be observed. It is
   * never called if the read fails (exists() of a missing znode does not fail), and never before
   * the promise of the read has settled. A watcher that is given twice for the same path and kind
   * is called once.
   */
  readonly watcher?: Watcher | undefined;
}

/** An exception that a watcher throws is reported as uncaught and does not affect the client. */
export type Watcher = (event: WatchEvent) => void;

export type WatchEvent = NodeEvent | ResyncEvent | EndEvent;

/** A change of a znode. */
export interface NodeEvent {
  readonly type: 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
  readonly path: string;
  /**
   * The zxid of the change, or null if the server does not send it, as ZooKeeper before 3.9, or in
   * the catch-up after a reconnect.
   */
  readonly zxid: bigint | null;
}

/**
 * Changes may have been missed, so read again. Only persistent watches receive it: the server
 * itself informs one-shot watches after a reconnect.
 */
export interface ResyncEvent {
  readonly type: 'resync';
  readonly path: string;
  /** 're-added': the watch was missing on the server for a moment and is registered again. */
  readonly reason: 'reconnected' | 'new-session' | 'overflow' | 're-added';
}

/**
 * The watch is over: its session was lost, the client was closed, or removeWatches() removed it. A
 * call of its own handle's remove(), or of removeWatcher(), emits no event. One-shot watches
 * receive all three events, persistent ones 'lost' only if no new session follows (`renewSession:
 * false`).
 */
export interface EndEvent {
  readonly type: 'lost' | 'closed' | 'removed';
  readonly path: string;
}

/** A session with the ensemble. */
export interface Session {
  readonly id: bigint;
  /**
   * 16 bytes. Together with the id it lets another client resume the session, so keep it secret.
   */
  readonly password: Uint8Array;
  /** The negotiated timeout, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted with SessionExpiredError or ClientClosedError when the session is over. */
  readonly signal: AbortSignal;
}

/**
 * - `connecting`: there is no session yet, or a new one is being opened after a loss.
 * - `connected`: requests are answered. `client.readOnly` tells whether the member lacks a quorum.
 * - `suspended`: the connection is lost. The client tries to resume the session, which may be over
 *   or still live.
 * - `lost`: the session is over for this client, because the server said so or has been silent for
 *   so long that it may be about to expire it. If it was silent, and if this process runs in time,
 *   that is reported before any other client can observe the deletion of this client's ephemeral
 *   znodes.
 * - `closed`: close() was called, or authentication was refused.
 */
export type ClientState = 'connecting' | 'connected' | 'suspended' | 'lost' | 'closed';

/** How the client has learned that its session is over. */
export type SessionLossCause =
  /**
   * A server has said that it is over, so early that its timeout cannot have passed: an operator
   * has ended it, another process has closed it, the ensemble was restored from a backup, or only
   * another server knows it.
   */
  | 'ended'
  /**
   * A server has said that it is over, and its timeout may have passed: this process was suspended
   * or busy, or this client was given a session of another process to resume, of whose last contact
   * it knows nothing.
   */
  | 'expired'
  /** No server has answered for so long that one may soon expire it: the client has given it up. */
  | 'silence'
  /** It was opened by a server without a quorum, and the client has found one with a quorum. */
  | 'readOnly';

export interface StateChange {
  readonly state: ClientState;
  /** The session that the change concerns, null while there is none. */
  readonly sessionId: bigint | null;
  /** Whether 'connected' means a session other than the one that was connected before. */
  readonly newSession: boolean;
  readonly readOnly: boolean;
  /** The cause of a change for the worse, else null. */
  readonly error: Error | null;
  /** Only with 'lost'. */
  readonly lossCause?: SessionLossCause;
}
