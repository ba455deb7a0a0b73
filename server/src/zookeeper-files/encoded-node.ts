/**
 * Where the fields of a znode are among the bytes of a snapshot.
 *
 *     path, data (each behind its length), the id of the ACL list (8 bytes), czxid, mzxid, ctime,
 *     mtime (8 each), version, cversion, aversion (4 each), owner, pzxid (8 each)
 *
 * One of these goes from znode to znode, so that reading them makes no objects.
 */
import { type ByteCursor, NO_BYTES } from './byte-cursor.js';

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
