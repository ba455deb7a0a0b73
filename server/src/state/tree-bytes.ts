/**
 * Estimates the memory that the replicated state takes in a member, so that every member gets the
 * same number.
 *
 * The estimate is a pure function of the state: the number of znodes, the bytes of their names and
 * data as the slabs round them, the distinct ACL lists, and the sessions. It is therefore the same
 * on every member at one zxid and after every restart, whatever memory a member has really
 * reserved, and it is maintained by adding and subtracting integers. The constants were calibrated
 * against the resident memory of members (docs/architecture/performance.md, "Memory"). Called by
 * Tree, and by the leader for what is in flight.
 */
import { slotBytesFor } from './memory/data-slabs.js';
import { PathView, type WithPath } from './memory/path-view.js';

/**
 * A row of 128 bytes, 12 for the counts below the znode, 5 to 10 in the path index, 8 for its
 * record in the checkpoint, and what the pages of these hold beyond the last entry.
 */
export const NODE_BYTES = 168;
/** A distinct ACL list: its objects, its encoded bytes and the key by which it is found. */
const ACL_LIST_BYTES = 512;
const ACL_COPIES = 4;
/** A session: an entry in the table, its password, its lease and its owner on the leader. */
const SESSION_BYTES = 768;

const SLASH = 0x2f;
const ASCII_MAX = 0x7f;
const NOT_ASCII = -1;

/** A znode with a name and data of this size; null data have none. */
export function znodeBytes(nameBytes: number, dataBytes: number): number {
  return NODE_BYTES + payloadBytes(nameBytes, dataBytes);
}

/** The part of it that is name and data. */
export function payloadBytes(nameBytes: number, dataBytes: number): number {
  const bytes = nameBytes + Math.max(0, dataBytes);
  return bytes === 0 ? 0 : slotBytesFor(bytes);
}

/** A distinct list with an encoding of this size. */
export function aclListBytes(encodedBytes: number): number {
  return ACL_LIST_BYTES + ACL_COPIES * encodedBytes;
}

export function sessionBytes(count: number): number {
  return SESSION_BYTES * count;
}

/** The size of the name at the end of the path, as it is stored; see Payloads. */
export function nameBytesIn(op: WithPath): number {
  const bytes = op instanceof PathView ? asciiNameBytes(op) : NOT_ASCII;
  if (bytes !== NOT_ASCII) return bytes;
  const { path } = op;
  const start = path.lastIndexOf('/') + 1;
  for (let at = start; at < path.length; at++) {
    if (path.charCodeAt(at) > ASCII_MAX) return 2 * (path.length - start);
  }
  return path.length - start;
}

function asciiNameBytes({ bytes, pathStart, pathEnd }: PathView): number {
  let start = pathEnd;
  for (; start > pathStart; start--) {
    const unit = bytes[start - 1] ?? 0;
    if (unit === SLASH) break;
    if (unit > ASCII_MAX) return NOT_ASCII;
  }
  return pathEnd - start;
}
