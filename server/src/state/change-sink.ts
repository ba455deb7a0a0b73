/**
 * The interface through which listeners hear of the changes that an applied transaction makes.
 *
 * Each call comes right after its change and before the next change of the same transaction, in the
 * order in which watches must fire: for a multi, operation by operation; for a closed session, its
 * ephemerals in an order that may differ between members. A listener that reads the tree inside the
 * call therefore sees exactly the result of that operation (the Stat with which a multi answers). A
 * listener never changes the state. Setting an ACL, a check, an error and a session that begins or
 * ends call nothing.
 */
import type { WithPath } from './memory/path-view.js';
import type { Acl } from './txn.js';

export interface ChangeSink {
  /** The operation is only lent for the duration of the call. */
  created(op: WithPath, node: number): void;
  /** `acl` is the list that the node had, because the node is gone. */
  deleted(path: string, acl: readonly Acl[]): void;
  dataChanged(op: WithPath, node: number): void;
}

/** For recovery, when nobody watches. */
export const IGNORE_CHANGES: ChangeSink = {
  created: () => undefined,
  deleted: () => undefined,
  dataChanged: () => undefined,
};
