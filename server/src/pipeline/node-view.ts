/**
 * What the checks of a request are told of a znode, as it will be once all in flight is applied.
 *
 * Called by Overlay, which makes them, and by prepare-op, which reads them.
 */
import type { Zxid } from '@rookery/protocol';
import type { Acl, SessionId } from '../state/txn.js';

const NO_ACL: readonly Acl[] = [];

/** What the checks of a request ask of a znode. */
export interface NodeView {
  readonly exists: boolean;
  readonly version: number;
  /** Creates ever done below it: the next sequence number. */
  readonly creates: number;
  readonly aversion: number;
  /** The session whose ephemeral it is, else 0. */
  readonly owner: SessionId;
  readonly acl: readonly Acl[];
  readonly dataBytes: number;
}

/** Of one shape, whatever it was made from: there is one for every write. */
export interface NodeRecord extends NodeView {
  exists: boolean;
  version: number;
  creates: number;
  aversion: number;
  owner: SessionId;
  acl: readonly Acl[];
  dataBytes: number;
  /** Of the transaction that changed it last; 0 while it only says what is in the tree. */
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
