/**
 * What clients did and saw, in the terms that the simulator and the chaos run share: an operation,
 * its invocation, its outcome. Checkers use nothing else about a client.
 *
 * Data are text. Zxids, versions and times are numbers (zxids are safe integers). Times are ms of
 * the run's own clock, which no fault affects; `order` numbers everything in a run, from 1.
 */

import type { Grant } from './grants.js';

export type CreateMode =
  | 'persistent'
  | 'ephemeral'
  | 'persistentSequential'
  | 'ephemeralSequential'
  /** With a time to live, the same for all: see TTL_MS of the clients. */
  | 'ttl'
  /** Removed some time after its last child. */
  | 'container';

export type WriteOperation =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: string;
      readonly mode: CreateMode;
      /** Who may do what; without them, everybody may do everything. */
      readonly grants?: readonly Grant[];
    }
  /** `version` -1 matches any version. */
  | { readonly kind: 'set'; readonly path: string; readonly data: string; readonly version: number }
  | { readonly kind: 'delete'; readonly path: string; readonly version: number };

export type MultiPart =
  | WriteOperation
  | { readonly kind: 'check'; readonly path: string; readonly version: number };

/** `acl` is a text that no other request has. */
export interface SetAclOperation {
  readonly kind: 'setAcl';
  readonly path: string;
  readonly acl: string;
  /** Who may do what from now on; without them, everybody may do everything. */
  readonly grants?: readonly Grant[];
  /** -1 matches any version of the ACL. */
  readonly version: number;
}

/** One of the reads of a multiRead. */
export interface ReadPart {
  readonly kind: 'get' | 'children';
  readonly path: string;
}

/** Which of the watches on a path; `any` stands for all. */
export type RemovedWatches = 'data' | 'children' | 'persistent' | 'recursive' | 'any';

/** The next sequential child of the path gets this number, or a higher one. */
export interface RaiseOperation {
  readonly kind: 'raise';
  readonly path: string;
  readonly atLeast: number;
}

export type Operation =
  | WriteOperation
  | SetAclOperation
  | RaiseOperation
  | { readonly kind: 'multi'; readonly parts: readonly MultiPart[] }
  | { readonly kind: 'get'; readonly path: string; readonly watch: boolean }
  | { readonly kind: 'exists'; readonly path: string; readonly watch: boolean }
  | { readonly kind: 'children'; readonly path: string; readonly watch: boolean }
  | { readonly kind: 'addWatch'; readonly path: string; readonly mode: 'persistent' | 'recursive' }
  | { readonly kind: 'removeWatches'; readonly path: string; readonly type: RemovedWatches }
  | { readonly kind: 'multiRead'; readonly reads: readonly ReadPart[] }
  /** The ephemerals of the session whose paths begin with this one. */
  | { readonly kind: 'ephemerals'; readonly path: string }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'ping' };

/** The parts of a Stat that checkers compare. */
export interface StatSeen {
  readonly czxid: number;
  readonly mzxid: number;
  readonly pzxid: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: number;
  readonly numChildren: number;
}

export interface PartResult {
  readonly error: number;
  /** For a create: the path with its sequence number. */
  readonly path: string | null;
  readonly stat: StatSeen | null;
}

/** The answer to one of the reads of a multiRead. */
export interface ReadResult {
  readonly error: number;
  readonly data: string | null;
  /** For a get. */
  readonly stat: StatSeen | null;
  readonly children: readonly string[] | null;
}

export interface Result {
  /** ErrorCode of the protocol; 0 is ok. For a multi: that of the part that failed. */
  readonly error: number;
  /** The zxid of the reply's header. */
  readonly zxid: number;
  /** For a create: the path with its sequence number. */
  readonly path: string | null;
  /** For a raise: the number of the next sequential child. */
  readonly data: string | null;
  readonly stat: StatSeen | null;
  /** For `ephemerals`, whole paths. */
  readonly children: readonly string[] | null;
  /** For a multi. */
  readonly parts: readonly PartResult[] | null;
  /** For a multiRead. */
  readonly reads?: readonly ReadResult[];
}

export interface Invocation {
  readonly order: number;
  readonly atMs: number;
  readonly client: number;
  /** The session in which it was sent. */
  readonly session: number;
  /** The connection on which it was sent: numbers are never used again in a run. */
  readonly connection: number;
  /** Those as whom its connection was known when it was sent; nobody by default. */
  readonly users?: readonly string[] | undefined;
  readonly operation: Operation;
}

export interface Reply {
  readonly order: number;
  readonly atMs: number;
  readonly invocation: Invocation;
  readonly result: Result;
}

/** The connection was lost with the request unanswered: its outcome is unknown. */
export interface Unanswered {
  readonly order: number;
  readonly atMs: number;
  readonly invocation: Invocation;
}

export interface WatchEventSeen {
  readonly order: number;
  readonly atMs: number;
  readonly client: number;
  readonly session: number;
  readonly connection: number;
  /** EventType of the protocol: 1 created, 2 deleted, 3 data changed, 4 children changed. */
  readonly type: number;
  readonly path: string;
  /** The zxid of the change; -1 where the server sends none. */
  readonly zxid: number;
}

/**
 * A reply or an event on a connection that its client has left for another and continues to use.
 * None of it counts for the client's history.
 */
export interface Overheard {
  readonly order: number;
  readonly atMs: number;
  readonly client: number;
  /** The session that it had when the client left. */
  readonly session: number;
  readonly connection: number;
  /** The zxid of the header; -1 where it has none. */
  readonly zxid: number;
}

/**
 * The answer of a member without a quorum, in a read-only session: it is in no transaction, and no
 * part of the history of the clients.
 */
export interface ReadOnlySeen {
  readonly order: number;
  readonly atMs: number;
  readonly client: number;
  readonly connection: number;
  readonly member: number;
  readonly operation: Operation;
  readonly result: Result;
}

export interface SessionSeen {
  readonly order: number;
  readonly atMs: number;
  readonly client: number;
  readonly session: number;
  readonly connection: number;
  /**
   * `opened`: a new session; `resumed`: the old one on a new connection; `disconnected`: the
   * connection is gone; `expired`: a server said that the session is over; `closed`: the client
   * closed it and received the answer; `reset`: the watches were set again (setWatches2 was
   * answered); `abandoned`: the attempt to resume it was not answered in time, and may still
   * succeed unnoticed.
   */
  readonly change:
    | 'opened'
    | 'resumed'
    | 'disconnected'
    | 'expired'
    | 'closed'
    | 'reset'
    | 'abandoned';
  /** The member to which it is connected, 0 when it is not. */
  readonly member: number;
  /** When the handshake of this connection was sent. */
  readonly askedAtMs: number;
  readonly timeoutMs: number;
  /** The last zxid that the client had seen by then; for `reset`, that of the answer. */
  readonly zxid: number;
}
