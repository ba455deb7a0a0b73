/**
 * Defines the transaction: the leader's decision on a request, which every replica applies.
 *
 * Everything that needs a decision (final path, resulting version, time, error) has been decided:
 * applying is deterministic and cannot fail, only assert. It is the body of a proposal. Here are
 * also the numbers that stand for a znode's mode, and the arithmetic of its counters, for prepare
 * (which decides the new version) and for the tree (which asserts it): all are int32 and overflow
 * as Java's do.
 */
import type { PeerId } from '@rookery/protocol';

/** The zxid of the transaction that created the session. */
export type SessionId = number;

export interface Acl {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

export type NodeMode = 'persistent' | 'ephemeral' | 'container' | 'ttl';

export interface CreateOp {
  readonly kind: 'create';
  /** The final path, which includes the sequence suffix. */
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly acl: readonly Acl[];
  readonly mode: NodeMode;
  /** In ms for the mode ttl, otherwise 0. */
  readonly ttlMs: number;
  /** The opcode that the client used, which decides the form of the reply (create or create2). */
  readonly opcode: number;
}
interface DeleteOp {
  readonly kind: 'delete';
  readonly path: string;
}
export interface SetDataOp {
  readonly kind: 'setData';
  readonly path: string;
  readonly data: Uint8Array | null;
  /** The version of the znode afterwards. */
  readonly version: number;
}
export interface SetAclOp {
  readonly kind: 'setAcl';
  readonly path: string;
  readonly acl: readonly Acl[];
  /** The aversion of the znode afterwards. */
  readonly version: number;
}
/** A check that passed. It changes nothing. */
interface CheckOp {
  readonly kind: 'check';
  readonly path: string;
}
export type NodeOp = CreateOp | DeleteOp | SetDataOp | SetAclOp | CheckOp;

interface MultiOp {
  readonly kind: 'multi';
  readonly ops: readonly NodeOp[];
}
/**
 * A request that was refused; it has a zxid all the same. `codes` has one entry for each operation
 * of a multi.
 */
export interface ErrorOp {
  readonly kind: 'error';
  readonly code: number;
  readonly codes: readonly number[] | null;
}
interface CreateSessionOp {
  readonly kind: 'createSession';
  readonly timeoutMs: number;
  /** 16 random bytes. */
  readonly password: Uint8Array;
}
/**
 * From here on, the session of the transaction does nothing more and no client resumes it: its end
 * is decided. Its ephemerals are deleted by transactions of their own, with a bounded number in
 * each, and its closeSession comes last, whichever member leads then.
 */
interface BeginCloseOp {
  readonly kind: 'beginClose';
}
/** Deletes the session of the transaction, and the ephemerals that it still has. */
interface CloseSessionOp {
  readonly kind: 'closeSession';
}
/**
 * Sets the number of the znode's next sequential child to `creates`, as if that many children had
 * been created. Fires no watch.
 */
export interface RaiseSequenceOp {
  readonly kind: 'raiseSequence';
  readonly path: string;
  /** The new number, an int32 as in txn.ts; never lower than before. */
  readonly creates: number;
}
/** Raises the ensemble level. It belongs to no session and no request. See `level.ts`. */
interface RaiseLevelOp {
  readonly kind: 'raiseLevel';
  readonly level: number;
}
type SessionOp = CreateSessionOp | BeginCloseOp | CloseSessionOp;
export type TxnOp = NodeOp | MultiOp | ErrorOp | RaiseSequenceOp | SessionOp | RaiseLevelOp;

export interface Txn {
  /**
   * The member whose client sent the request; 0 for what the leader decides by itself: an expiry,
   * the parts of a session's end and the rest of an end that a former leader has begun, the
   * deletion of a container or TTL znode, a raised level, the founding.
   */
  readonly origin: PeerId;
  /** The number that the origin gave the request. */
  readonly request: number;
  /**
   * The session for which it is executed; 0 for createSession, because the new session's id is the
   * zxid.
   */
  readonly session: SessionId;
  /**
   * ms since 1970; see docs/architecture/sessions.md, "Time". It falls from one transaction to the
   * next only where a majority of clocks has corrected it.
   */
  readonly time: number;
  readonly op: TxnOp;
}

/**
 * The type of an object that is overwritten for each request or transaction: what happens a million
 * times a second makes no garbage. Others get it as `T`, which they cannot change.
 */
export type Reused<T> = { -readonly [Field in keyof T]: T[Field] };

/** Indexed by number. Never reorder them: the numbers are on disk. */
export const NODE_MODES: readonly NodeMode[] = ['persistent', 'ephemeral', 'container', 'ttl'];

export const MODE = { persistent: 0, ephemeral: 1, container: 2, ttl: 3 } as const;

/** Whether the reaper looks at znodes of this mode. */
export function isTimed(mode: number): boolean {
  return mode === MODE.container || mode === MODE.ttl;
}

/**
 * The version after `version`. Never -1, which means "any version" in a request (ZOOKEEPER-4743).
 */
export function nextVersion(version: number): number {
  const next = (version + 1) | 0;
  return next === -1 ? 0 : next;
}

/** What clients see as cversion: creates plus deletes. `creates` is the internal counter. */
export function visibleCversion(creates: number, childCount: number): number {
  return (2 * creates - childCount) | 0;
}

/**
 * Whether a counter is at `atLeast` or beyond; below zero it has passed 2^31.
 */
export function isRaisedTo(creates: number, atLeast: number): boolean {
  return creates >>> 0 >= atLeast >>> 0;
}

/**
 * The suffix of a sequential node, formatted as Java's %010d: `creates` of its parent, before this
 * create. Past 2^31 it continues below zero, with the sign among the ten characters.
 */
export function sequenceSuffix(creates: number): string {
  if (creates < 0) {
    return `-${String(-creates).padStart(9, '0')}`;
  }
  return String(creates).padStart(10, '0');
}
