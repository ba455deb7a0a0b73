/**
 * Who hears of the changes that an applied transaction made.
 *
 * Each call comes right after its change and before the next one of the same transaction, in the
 * order in which watches must fire: per operation of a multi; for a closed session its ephemerals
 * in no order, which may differ between members, `sessionClosed` last. So a listener that reads the
 * tree inside the call sees exactly that operation's result (the Stat a multi answers). A listener
 * never changes the state. Setting an ACL, a check, an error and a new session call nothing.
 */
import type { WithPath } from './placed-op.js';
import type { Acl, SessionId } from './txn.js';

export interface ChangeSink {
  /** The operation is only lent. */
  created(op: WithPath, node: number): void;
  /** `acl` is what the node had: it can no more be asked. */
  deleted(path: string, acl: readonly Acl[]): void;
  dataChanged(op: WithPath, node: number): void;
  sessionClosed(session: SessionId): void;
}

/** For recovery, where nobody watches. */
export const IGNORE_CHANGES: ChangeSink = {
  created: () => undefined,
  deleted: () => undefined,
  dataChanged: () => undefined,
  sessionClosed: () => undefined,
};
