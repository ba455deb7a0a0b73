/**
 * Checkers that share one replay of the committed transactions, and how they name things.
 *
 * `ClientView` (client-view.ts) replays each transaction once and notifies its parts.
 */
import { formatZxid } from '@rookery/protocol';
import type { Checker } from '../../contract/checker.js';
import type {
  Invocation,
  Operation,
  RaiseOperation,
  SetAclOperation,
  WriteOperation,
} from '../../contract/history.js';
import type { Applied } from '../../contract/observation.js';
import type { Commit, CommittedTree } from './committed-tree.js';

export interface Part extends Checker {
  /** The transaction is in the tree; `seen` is the first of its applications. */
  onCommit?(commit: Commit, seen: Applied): void;
}

export type NewPart = (tree: CommittedTree) => Part;

export type Write =
  | WriteOperation
  | SetAclOperation
  | RaiseOperation
  | (Operation & { readonly kind: 'multi' });

export function isWrite(operation: Operation): operation is Write {
  switch (operation.kind) {
    case 'create':
    case 'set':
    case 'delete':
    case 'setAcl':
    case 'raise':
    case 'multi':
      return true;
    default:
      return false;
  }
}

/** For messages: which client requested what, and its position in the trace. */
export function asked(invocation: Invocation): string {
  const { order, client, session, connection, operation } = invocation;
  const what = 'path' in operation ? `${operation.kind} ${operation.path}` : operation.kind;
  const who = `client ${client} (session ${formatZxid(session)}, connection ${connection})`;
  return `${what} of ${who}, asked [${order}]`;
}
