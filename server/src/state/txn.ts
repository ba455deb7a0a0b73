/**
 * The transaction: what the leader's prepare made of a request and what every replica applies.
 *
 * Everything that needs a decision (final path, resulting version, time, error) has been decided:
 * applying is deterministic and cannot fail, only assert. It is the body of a proposal.
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
export interface DeleteOp {
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
export interface CheckOp {
  readonly kind: 'check';
  readonly path: string;
}
export type NodeOp = CreateOp | DeleteOp | SetDataOp | SetAclOp | CheckOp;

export interface MultiOp {
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
export interface CreateSessionOp {
  readonly kind: 'createSession';
  readonly timeoutMs: number;
  /** 16 random bytes. */
  readonly password: Uint8Array;
}
/**
 * From here on, the session of the transaction does nothing more and nobody resumes it: its end is
 * decided. Its ephemerals are deleted by transactions of their own, with a bounded number in each,
 * and its closeSession comes last, whoever leads then.
 */
export interface BeginCloseOp {
  readonly kind: 'beginClose';
}
/** Deletes the session of the transaction, and the ephemerals that it still has. */
export interface CloseSessionOp {
  readonly kind: 'closeSession';
}
/**
 * Sets the number of the znode's next sequential child to `creates`, as if that many children had
 * been created. Fires no watch.
 */
export interface RaiseSequenceOp {
  readonly kind: 'raiseSequence';
  readonly path: string;
  /** The new number, an int32 as in versions.ts; never lower than before. */
  readonly creates: number;
}
/** Raises the ensemble level. It belongs to no session and no request. See `level.ts`. */
export interface RaiseLevelOp {
  readonly kind: 'raiseLevel';
  readonly level: number;
}
export type SessionOp = CreateSessionOp | BeginCloseOp | CloseSessionOp;
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
