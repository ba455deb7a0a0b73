/**
 * The bytes of a znode in a checkpoint: key 'n' + path, value a packed little-endian record.
 *
 * The data of /zookeeper/config is left out, it is local. A value is checked for its form only:
 * whoever stores it guards the bytes with a checksum. Keys sort parents before their children.
 */
import { validatePath } from '@rookery/protocol';
import { bufferOf } from './buffer-of.js';
import { DamagedCheckpointError } from './damage.js';
import { MODE, NODE_MODES } from './modes.js';
import { CONFIG_NODE, type NodeRecord, type Tree } from './tree.js';

export const NODE_KEY = 0x6e;

const FORMAT = 1;
/** format, mode, six doubles, four counters, length of the ACL list, length of the data. */
const FIXED_BYTES = 2 + 6 * 8 + 4 * 4 + 2 * 4;

export function nodeKey(path: string): Uint8Array {
  const key = Buffer.allocUnsafe(1 + Buffer.byteLength(path));
  key[0] = NODE_KEY;
  key.write(path, 1);
  return key;
}

/** About the size of key and value. */
export function nodeRecordBytes(tree: Tree, node: number): number {
  return FIXED_BYTES + 64 + tree.dataLength(node);
}

export function encodeNode(tree: Tree, node: number): Uint8Array {
  const acl = tree.encodedAcl(node);
  const data = node === CONFIG_NODE ? null : tree.data(node);
  const value = Buffer.allocUnsafe(FIXED_BYTES + acl.length + (data === null ? 0 : data.length));
  const mode = MODE[tree.mode(node)];
  let at = value.writeUInt8(FORMAT, 0);
  at = value.writeUInt8(mode, at);
  at = value.writeDoubleLE(tree.czxid(node), at);
  at = value.writeDoubleLE(tree.mzxid(node), at);
  at = value.writeDoubleLE(tree.pzxid(node), at);
  at = value.writeDoubleLE(tree.ctime(node), at);
  at = value.writeDoubleLE(tree.mtime(node), at);
  at = value.writeDoubleLE(mode === MODE.ttl ? tree.ttlMs(node) : tree.owner(node), at);
  at = value.writeInt32LE(tree.version(node), at);
  at = value.writeInt32LE(tree.cversion(node), at);
  at = value.writeInt32LE(tree.aversion(node), at);
  at = value.writeInt32LE(tree.childCount(node), at);
  at = value.writeInt32LE(acl.length, at);
  at = value.writeInt32LE(data === null ? -1 : data.length, at);
  value.set(acl, at);
  if (data !== null) {
    value.set(data, at + acl.length);
  }
  return value;
}

/** Throws DamagedCheckpointError. */
export function decodeNode(key: Uint8Array, bytes: Uint8Array): NodeRecord {
  const path = bufferOf(key).toString('utf8', 1);
  const value = bufferOf(bytes);
  must(validatePath(path) === null, path, 'its path is not one');
  must(value.length >= FIXED_BYTES && value[0] === FORMAT, path, 'it has another format');
  const mode = value.readUInt8(1);
  must(mode < NODE_MODES.length, path, `there is no mode ${mode}`);
  const aclBytes = value.readInt32LE(66);
  const dataBytes = value.readInt32LE(70);
  must(aclBytes >= 4 && dataBytes >= -1, path, 'a length is negative');
  const end = FIXED_BYTES + aclBytes + Math.max(0, dataBytes);
  must(end === value.length, path, `it has ${value.length} bytes instead of ${end}`);
  const record = {
    path,
    mode,
    czxid: value.readDoubleLE(2),
    mzxid: value.readDoubleLE(10),
    pzxid: value.readDoubleLE(18),
    ctime: value.readDoubleLE(26),
    mtime: value.readDoubleLE(34),
    owner: value.readDoubleLE(42),
    version: value.readInt32LE(50),
    cversion: value.readInt32LE(54),
    aversion: value.readInt32LE(58),
    childCount: value.readInt32LE(62),
    value,
    aclStart: FIXED_BYTES,
    aclEnd: FIXED_BYTES + aclBytes,
    data: dataBytes === -1 ? null : value.subarray(FIXED_BYTES + aclBytes),
  };
  must(isCount(record.czxid) && isCount(record.mzxid), path, 'a zxid is out of range');
  must(isCount(record.pzxid) && isCount(record.owner), path, 'pzxid or owner is out of range');
  const owned = mode === MODE.ephemeral || mode === MODE.ttl;
  must(owned === record.owner > 0, path, `mode ${mode} does not go with owner ${record.owner}`);
  must(record.childCount >= 0, path, `it has ${record.childCount} children`);
  return record;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function must(condition: boolean, path: string, problem: string): asserts condition {
  if (!condition) {
    throw new DamagedCheckpointError(`the record of ${path} is damaged: ${problem}`);
  }
}
