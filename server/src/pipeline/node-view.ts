/**
 * What the checks of a request see of a znode, as it will be once everything in flight is applied.
 *
 * Called by Overlay, which makes these views, and by prepare-op, which reads them.
 */
import type { Zxid } from '@rookery/protocol';
import type { Acl, SessionId } from '../state/txn.js';

const NO_ACL: readonly Acl[] = [];

/** What the checks of a request need of a znode. */
export interface NodeView {
  readonly exists: boolean;
  readonly version: number;
  /** The number of creates ever done below it, which is the next sequence number. */
  readonly creates: number;
  readonly aversion: number;
  /** The session that owns it if it is an ephemeral, otherwise 0. */
  readonly owner: SessionId;
  readonly acl: readonly Acl[];
  readonly dataBytes: number;
}

/**
 * All records have the same fields in the same order, whatever they were made from: V8 then reads
 * them fastest.
 */
export interface NodeRecord extends NodeView {
  exists: boolean;
  version: number;
  creates: number;
  aversion: number;
  owner: SessionId;
  acl: readonly Acl[];
  dataBytes: number;
  /**
   * The zxid of the transaction that changed it last; 0 while the record only repeats what is in
   * the tree.
   */
  zxid: Zxid;
}

export function absent(): NodeRecord {
  return {
    exists: false,
    version: 0,
    creates: 0,
    aversion: 0,
    owner: 0,
    acl: NO_ACL,
    dataBytes: 0,
    zxid: 0,
  };
}
