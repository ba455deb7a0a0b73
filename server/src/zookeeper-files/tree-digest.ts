/**
 * ZooKeeper's digest of a tree, version 2: the sum, modulo 2^64, of a CRC-32 of each znode.
 *
 * What is below /zookeeper does not count; the root counts once, with an empty path.
 */
import { crc32 } from 'node:zlib';
import type { SnapshotNode } from './snapshot-node.js';

export const DIGEST_VERSION = 2;
/** What the digest covers of a znode beside its path and data: six longs and three ints. */
const NUMBERS_BYTES = 60;
/** Znodes that need more are put into memory of their own. */
const SCRATCH_BYTES = 16 << 10;
/** A character of UTF-16 has at most so many bytes in UTF-8. */
export const UTF8_BYTES_MAX = 3;
/** One more CRC keeps the sum a safe integer. */
const SUM_MAX = 2 ** 52;
const UNCOUNTED = '/zookeeper/';

/** What of a znode the digest covers. */
export type DigestedNode = Omit<SnapshotNode, 'acl'>;

export class TreeDigest {
  #total = 0n;
  #sum = 0;
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /** The same memory: a DataView writes longs several times as fast as a Buffer. */
  readonly #scratchView = new DataView(this.#scratch.buffer);

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
    this.#sum += sign * this.#crcOf(node);
    if (Math.abs(this.#sum) < SUM_MAX) return;
    this.#total += BigInt(this.#sum);
    this.#sum = 0;
  }

  /** Puts all bytes of a znode together, because three calls of crc32 cost more than the copy. */
  #crcOf(node: DigestedNode): number {
    const { path, data } = node;
    const most = UTF8_BYTES_MAX * path.length + (data?.length ?? 0) + NUMBERS_BYTES;
    const isSmall = most <= SCRATCH_BYTES;
    const bytes = isSmall ? this.#scratch : Buffer.allocUnsafeSlow(most);
    const view = isSmall ? this.#scratchView : new DataView(bytes.buffer);
    let length = bytes.write(path);
    if (data !== null) length += data.copy(bytes, length);
    putNumbers(view, length, node);
    return crc32(bytes.subarray(0, length + NUMBERS_BYTES));
  }
}

function putNumbers(view: DataView, at: number, node: DigestedNode): void {
  view.setBigInt64(at, node.czxid);
  view.setBigInt64(at + 8, node.mzxid);
  view.setBigInt64(at + 16, node.pzxid);
  view.setBigInt64(at + 24, node.ctime);
  view.setBigInt64(at + 32, node.mtime);
  view.setInt32(at + 40, node.version);
  view.setInt32(at + 44, node.cversion);
  view.setInt32(at + 48, node.aversion);
  view.setBigInt64(at + 52, node.ephemeralOwner);
}
