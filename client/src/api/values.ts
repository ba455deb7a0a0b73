/**
 * The values that operations take and give: Stat, events, sessions, operation options.
 *
 * 64-bit values are decided once, here: zxids, session ids and fencing tokens are always `bigint`,
 * for they are compared and handed on, never added up, and ZooKeeper's do not fit in a number.
 * Times are `number`, in milliseconds since 1970; versions and counts are `number`. Types only.
 */
import type { Acl, CreateFlag } from '@rookery/protocol';

export type { Acl };

/** What a znode holds: bytes, a string that is sent as UTF-8, or null, which is not empty bytes. */
export type Data = Uint8Array | string | null;

export interface Stat {
  /** Zxid of the change that created the znode; unique to this incarnation of the path. */
  readonly czxid: bigint;
  /** Zxid of the last change of its data. */
  readonly mzxid: bigint;
  /** Zxid of the last change of its children. */
  readonly pzxid: bigint;
  /** Milliseconds since 1970, by the leader's clock. */
  readonly ctime: number;
  readonly mtime: number;
  /** Changes of the data, of the children and of the ACL. */
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** The session that an ephemeral znode belongs to, 0n for any other. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

/** How a znode is created; `ttl` modes need `ttlMs`. */
export type CreateMode = keyof typeof CreateFlag;

export interface Created {
  /** The path as created: with the sequence number, without chroot or namespace. */
  readonly path: string;
  readonly stat: Stat;
}

export interface Node {
  /** A copy that belongs to the caller. */
  readonly data: Buffer | null;
  readonly stat: Stat;
}

export interface Children {
  /** Names without the path, in no order. */
  readonly children: readonly string[];
  readonly stat: Stat;
}

export interface OperationOptions {
  /**
   * Gives up waiting: the promise is rejected with OperationAbortedError at once. A request that
   * was sent already may still take effect; the error's `ambiguous` says so.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds until OperationTimeoutError, 0 for no bound; by default the client's
   * `operationTimeoutMs`. OptionError when it is negative or not a number.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Only within this session: rejected with SessionExpiredError, unsent, when it is no more the
   * client's. What depends on an ephemeral znode must say which session it means.
   */
  readonly session?: bigint | undefined;
}

export interface CreateOptions extends OperationOptions {
  /** 'persistent' by default. */
  readonly mode?: CreateMode | undefined;
  /** OPEN_ACL by default: everything to everybody. */
  readonly acl?: readonly Acl[] | undefined;
  /** Milliseconds a childless TTL znode lives after its last change, 1 to TTL_MAX_MS. */
  readonly ttlMs?: number | undefined;
}

export interface VersionOptions extends OperationOptions {
  /** Fails with BadVersionError unless the znode has it; any by default. */
  readonly version?: number | undefined;
}

export interface WatchedReadOptions extends OperationOptions {
  /**
   * Leaves a one-shot watch: called exactly once, with the first change that the read did not
   * show, or with 'lost' or 'closed' when that can no longer be told. Never called when the read
   * fails (but exists() of a missing znode succeeds). Never called before the read's promise
   * has settled. A watcher given twice for one path and kind is called once.
   */
  readonly watcher?: Watcher | undefined;
}

/** Exceptions that it throws are reported as uncaught; the client is not harmed by them. */
export type Watcher = (event: WatchEvent) => void;

export type WatchEvent = NodeEvent | ResyncEvent | EndEvent;

/** A change of a znode. */
export interface NodeEvent {
  readonly type: 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
  readonly path: string;
  /** Zxid of the change; null where the server does not tell (ZooKeeper before 3.9, catch-up). */
  readonly zxid: bigint | null;
}

/**
 * Changes may have been missed: read again. Only persistent watches get it; one-shot ones are
 * caught up by the server.
 */
export interface ResyncEvent {
  readonly type: 'resync';
  readonly path: string;
  /** 're-added': the watch had gone from the server for a moment and stands there again. */
  readonly reason: 'reconnected' | 'new-session' | 'overflow' | 're-added';
}

/**
 * The watch is over: its session was lost, the client closed, or removeWatches() took it away (its
 * own handle's remove() and removeWatcher() tell nothing). One-shot watches get all three,
 * persistent ones 'lost' only when no session follows (`renewSession: false`).
 */
export interface EndEvent {
  readonly type: 'lost' | 'closed' | 'removed';
  readonly path: string;
}

/** One session with the ensemble. */
export interface Session {
  readonly id: bigint;
  /** 16 bytes; with the id it lets another client resume the session: keep it secret. */
  readonly password: Uint8Array;
  /** As negotiated, milliseconds. */
  readonly timeoutMs: number;
  /** Aborted, with SessionExpiredError or ClientClosedError, when the session is over. */
  readonly signal: AbortSignal;
}

/**
 * - `connecting`: no session yet, or a new one is being opened after a loss.
 * - `connected`: requests are answered. `client.readOnly` tells of a member without quorum.
 * - `suspended`: the connection is gone; the session lives and is being resumed.
 * - `lost`: the session is over for us: the server said so, or has been silent for so long that it
 *   may be about to. Reported before any other client can see our ephemeral znodes gone.
 * - `closed`: close() was called, or authentication failed for good.
 */
export type ClientState = 'connecting' | 'connected' | 'suspended' | 'lost' | 'closed';

export interface StateChange {
  readonly state: ClientState;
  /** The session that it is about, null while there is none. */
  readonly sessionId: bigint | null;
  /** Whether 'connected' means a session other than the last one that was connected. */
  readonly newSession: boolean;
  readonly readOnly: boolean;
  /** Why, when it is a change for the worse. */
  readonly error: Error | null;
}
