/**
 * Defines a znode as it is in ZooKeeper's snapshots.
 */
import type { Int64 } from '@rookery/protocol';
import { type ByteCursor, FIELD_BYTES_MAX, FileError, NO_BYTES } from './byte-cursor.js';

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

/** More than fit into a request. */
const ENTRIES_MAX = 1 << 20;

export function readAclList(cursor: ByteCursor): readonly AclEntry[] {
  const entries: AclEntry[] = [];
  const from = cursor.position;
  for (let left = cursor.count('the entries of an ACL', 12); left > 0; left--) {
    const perms = cursor.int('an ACL');
    const scheme = cursor.text('the scheme of an ACL');
    entries.push({ perms, scheme, id: cursor.text('the id of an ACL') });
    if (cursor.position - from > FIELD_BYTES_MAX || entries.length > ENTRIES_MAX) {
      const bounds = `${ENTRIES_MAX} entries or ${FIELD_BYTES_MAX} bytes`;
      throw new FileError(`an ACL has more than ${bounds}, which is more than can be read`, from);
    }
  }
  return entries;
}

const ACL_ID_BYTES = 8;
/** The numbers behind the id of the ACL list: six longs and three ints. */
export const NUMBERS_BYTES = 60;
const SLASH = 0x2f;
const PATH = 'the path of a znode';
const DATA = 'the data of a znode';

export class EncodedNode {
  pathStart = 0;
  pathEnd = 0;
  dataStart = 0;
  dataEnd = 0;
  hasData = false;
  aclIdStart = 0;
  numbersStart = 0;

  /** Goes to the znode at the cursor; false where "/" ends them. Throws FileError. */
  next(cursor: ByteCursor): boolean {
    const pathBytes = cursor.length(PATH);
    this.pathStart = cursor.skip(Math.max(0, pathBytes), PATH);
    this.pathEnd = cursor.offset;
    if (pathBytes === 1 && cursor.bytes[this.pathStart] === SLASH) return false;
    const dataBytes = cursor.length(DATA);
    this.hasData = dataBytes !== NO_BYTES;
    this.dataStart = cursor.skip(Math.max(0, dataBytes), DATA);
    this.dataEnd = cursor.offset;
    this.aclIdStart = cursor.skip(ACL_ID_BYTES + NUMBERS_BYTES, 'a znode');
    this.numbersStart = this.aclIdStart + ACL_ID_BYTES;
    return true;
  }
}
