/**
 * Decides by content which transaction may be the result of a request.
 *
 * Every text has one writer (see Workload), so a set or a create can be identified by what it
 * writes. Pure; the checkers that match transactions with requests share it.
 */
import { unreachable } from '@rookery/protocol';
import type { NodeOp, TxnOp } from '../../../simulated.js';
import type { MultiPart, RaiseOperation, SetAclOperation } from '../../contract/history.js';
import { textOf } from './committed-tree.js';
import type { Write } from './part.js';

/** Whether the transaction may perform a request that can be identified by its content. */
export function isOfRequest(op: TxnOp): op is Exclude<TxnOp, { kind: 'error' }> {
  if (op.kind === 'error' || op.kind === 'createSession') return false;
  return op.kind !== 'beginClose' && op.kind !== 'closeSession';
}

export function isDoneBy(write: Write, op: TxnOp): boolean {
  if (write.kind === 'setAcl') return isAclSetBy(write, op);
  if (write.kind === 'raise') return isRaisedBy(write, op);
  if (write.kind !== 'multi') return isPartDoneBy(write, op);
  if (op.kind !== 'multi' || op.ops.length !== write.parts.length) return false;
  return write.parts.every((part, index) => {
    const done = op.ops[index];
    return done !== undefined && isPartDoneBy(part, done);
  });
}

function isAclSetBy({ path, acl, version }: SetAclOperation, op: TxnOp): boolean {
  if (op.kind !== 'setAcl' || op.path !== path) return false;
  if (version >= 0 && op.version !== version + 1) return false;
  return op.acl.some(({ id }) => id === aclIdOf(acl));
}

function isRaisedBy({ path, atLeast }: RaiseOperation, op: TxnOp): boolean {
  return op.kind === 'raiseSequence' && op.path === path && op.creates >= atLeast;
}

/** The identity in an ACL by which the request that set it is known. */
export function aclIdOf(acl: string): string {
  return `${acl}:x`;
}

function isPartDoneBy(part: MultiPart, op: TxnOp | NodeOp): boolean {
  switch (part.kind) {
    case 'create':
      return op.kind === 'create' && isCreateDoneBy(part, op) && part.data === textOf(op.data);
    case 'set':
      if (op.kind !== 'setData' || op.path !== part.path) return false;
      if (part.version >= 0 && op.version !== part.version + 1) return false;
      return textOf(op.data) === part.data;
    case 'delete':
    case 'check':
      return op.kind === part.kind && op.path === part.path;
    default:
      return unreachable(part);
  }
}

function isCreateDoneBy(
  asked: MultiPart & { readonly kind: 'create' },
  op: NodeOp & { readonly kind: 'create' },
): boolean {
  const { path, mode } = asked;
  if ((op.mode === 'ephemeral') !== mode.startsWith('ephemeral')) return false;
  if (!mode.endsWith('Sequential')) return op.path === path;
  return op.path.length === path.length + 10 && op.path.startsWith(path);
}
