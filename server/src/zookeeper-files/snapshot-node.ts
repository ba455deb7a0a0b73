/**
 * A znode as ZooKeeper's snapshots have it.
 */
export interface SnapshotNode {
  /** '' for the root. */
  readonly path: string;
  /** Shares the file's memory. */
  readonly data: Buffer | null;
  readonly aclId: bigint;
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
