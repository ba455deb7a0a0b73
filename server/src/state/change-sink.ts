/**
 * The interface through which listeners hear of the changes that an applied transaction makes.
 *
 * Each call comes right after its change and before the next change of the same transaction, in the
 * order in which watches must fire: for a multi, operation by operation; for a closed session,
 * first its ephemerals in an order that may differ between members, and `sessionClosed` last. A
 * listener that reads the tree inside the call therefore sees exactly the result of that operation
 * (the Stat with which a multi answers). A listener never changes the state. Setting an ACL, a
 * check, an error and a new session call nothing.
 */
import type { WithPath } from './op-view.js';
import type { Acl, SessionId } from './txn.js';

export interface ChangeSink {
  /** The operation is only lent for the duration of the call. */
  created(op: WithPath, node: number): void;
  /** `acl` is the list that the node had, because the node is gone. */
  deleted(path: string, acl: readonly Acl[]): void;
  dataChanged(op: WithPath, node: number): void;
  sessionClosed(session: SessionId): void;
}

/** For recovery, when nobody watches. */
export const IGNORE_CHANGES: ChangeSink = {
  created: () => undefined,
  deleted: () => undefined,
  dataChanged: () => undefined,
  sessionClosed: () => undefined,
};
