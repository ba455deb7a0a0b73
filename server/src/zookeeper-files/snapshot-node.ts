/**
 * A znode as ZooKeeper's snapshots have it.
 */

import type { Int64 } from '@rookery/protocol';

export interface AclEntry {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

/** The list that snapshots do not write out: everybody may do everything. */
export const OPEN_LIST: readonly AclEntry[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];

/** A znode to be written; its numbers may be bigints, which take several times as long to make. */
export interface NodeToWrite {
  /** '' for the root. */
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly acl: readonly AclEntry[] | null;
  readonly czxid: Int64;
  readonly mzxid: Int64;
  readonly ctime: Int64;
  readonly mtime: Int64;
  readonly version: number;
  /** As it is stored: how many children were created. */
  readonly cversion: number;
  readonly aversion: number;
  /** A session, 0, or the mark of a container or of a time to live. */
  readonly ephemeralOwner: Int64;
  readonly pzxid: Int64;
}

/** A znode that was read. */
export interface SnapshotNode extends NodeToWrite {
  /** Shares the file's memory. */
  readonly data: Buffer | null;
  /** Null where the file does not have the list: fuzzy snapshots of old releases. */
  readonly acl: readonly AclEntry[] | null;
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ctime: bigint;
  readonly mtime: bigint;
  readonly ephemeralOwner: bigint;
  readonly pzxid: bigint;
}
