/**
 * A znode as ZooKeeper's snapshots have it.
 */

export interface AclEntry {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

/** The list that snapshots do not write out: everybody may do everything. */
export const OPEN_LIST: readonly AclEntry[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];

export interface SnapshotNode {
  /** '' for the root. */
  readonly path: string;
  /** Shares the file's memory. */
  readonly data: Buffer | null;
  /** Null where the file does not have the list: fuzzy snapshots of old releases. */
  readonly acl: readonly AclEntry[] | null;
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ctime: bigint;
  readonly mtime: bigint;
  readonly version: number;
  /** As it is stored: how many children were created. */
  readonly cversion: number;
  readonly aversion: number;
  /** A session, 0, or the mark of a container or of a time to live. */
  readonly ephemeralOwner: bigint;
  readonly pzxid: bigint;
}
