/**
 * ZooKeeper's digest of a tree, version 2: the sum, modulo 2^64, of a CRC-32 of each znode.
 *
 * What is below /zookeeper does not count; the root counts once, with an empty path.
 */
import { crc32 } from 'node:zlib';
import type { SnapshotNode } from './snapshot-node.js';

export const DIGEST_VERSION = 2;
/** One more CRC keeps the sum a safe integer. */
const SUM_MAX = 2 ** 52;
const UNCOUNTED = '/zookeeper/';

/** What of a znode the digest covers. */
export type DigestedNode = Omit<SnapshotNode, 'acl'>;

export class TreeDigest {
  #total = 0n;
  #sum = 0;
  readonly #numbers = Buffer.alloc(60);

  add(node: DigestedNode): void {
    this.#count(node, 1);
  }

  /** The node is as it was when it was added. */
  remove(node: DigestedNode): void {
    this.#count(node, -1);
  }

  get value(): bigint {
    return BigInt.asUintN(64, this.#total + BigInt(this.#sum));
  }

  #count(node: DigestedNode, sign: 1 | -1): void {
    if (node.path.startsWith(UNCOUNTED)) return;
    const ofPath = crc32(Buffer.from(node.path));
    const ofData = node.data === null ? ofPath : crc32(node.data, ofPath);
    this.#sum += sign * crc32(this.#numbersOf(node), ofData);
    if (Math.abs(this.#sum) < SUM_MAX) return;
    this.#total += BigInt(this.#sum);
    this.#sum = 0;
  }

  #numbersOf(node: DigestedNode): Buffer {
    const bytes = this.#numbers;
    bytes.writeBigInt64BE(node.czxid, 0);
    bytes.writeBigInt64BE(node.mzxid, 8);
    bytes.writeBigInt64BE(node.pzxid, 16);
    bytes.writeBigInt64BE(node.ctime, 24);
    bytes.writeBigInt64BE(node.mtime, 32);
    bytes.writeInt32BE(node.version, 40);
    bytes.writeInt32BE(node.cversion, 44);
    bytes.writeInt32BE(node.aversion, 48);
    bytes.writeBigInt64BE(node.ephemeralOwner, 52);
    return bytes;
  }
}
