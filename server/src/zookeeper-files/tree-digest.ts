/**
 * Computes ZooKeeper's digest of a tree, version 2: the sum, modulo 2^64, of a CRC-32 of each
 * znode.
 *
 * What is below /zookeeper does not count; the root counts once, with an empty path.
 */
import { crc32 } from 'node:zlib';
import type { ByteCursor } from './byte-cursor.js';
import { type EncodedNode, NUMBERS_BYTES, type SnapshotNode } from './snapshot-node.js';

export const DIGEST_VERSION = 2;
/** Znodes that need more are put into memory of their own. */
const SCRATCH_BYTES = 16 << 10;
/** A character of UTF-16 has at most so many bytes in UTF-8. */
const UTF8_BYTES_MAX = 3;
/** One more CRC keeps the sum a safe integer. */
const SUM_MAX = 2 ** 52;
const UNCOUNTED = '/zookeeper/';
const UNCOUNTED_BYTES = Buffer.from(UNCOUNTED);

/** What of a znode the digest covers. */
type DigestedNode = Omit<SnapshotNode, 'acl'>;

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

  /** The znode at which `encoded` is, among the bytes of the cursor. */
  addEncoded(encoded: EncodedNode, cursor: ByteCursor): void {
    if (isUncounted(encoded, cursor)) return;
    this.#sumUp(this.#crcOfEncoded(encoded, cursor));
  }

  get value(): bigint {
    return BigInt.asUintN(64, this.#total + BigInt(this.#sum));
  }

  #count(node: DigestedNode, sign: 1 | -1): void {
    if (node.path.startsWith(UNCOUNTED)) return;
    this.#sumUp(sign * this.#crcOf(node));
  }

  #sumUp(crc: number): void {
    this.#sum += crc;
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

  /** The same without an object, a string or a bigint for each znode. */
  #crcOfEncoded(encoded: EncodedNode, { bytes, view }: ByteCursor): number {
    const { pathStart, pathEnd, dataStart, dataEnd, numbersStart } = encoded;
    const pathBytes = pathEnd - pathStart;
    const length = pathBytes + dataEnd - dataStart;
    if (length + NUMBERS_BYTES > SCRATCH_BYTES) {
      const large = Buffer.allocUnsafeSlow(length + NUMBERS_BYTES);
      bytes.copy(large, 0, pathStart, pathEnd);
      bytes.copy(large, pathBytes, dataStart, dataEnd);
      copyNumbers(view, numbersStart, { to: new DataView(large.buffer), at: length });
      return crc32(large);
    }
    const to = this.#scratchView;
    copyWords(view, pathStart, { to, at: 0, length: pathBytes });
    copyWords(view, dataStart, { to, at: pathBytes, length: dataEnd - dataStart });
    copyNumbers(view, numbersStart, { to, at: length });
    return crc32(this.#scratch.subarray(0, length + NUMBERS_BYTES));
  }
}

function isUncounted({ pathStart, pathEnd }: EncodedNode, { bytes }: ByteCursor): boolean {
  // Few paths have the same second character, and only those are compared.
  if (bytes[pathStart + 1] !== UNCOUNTED_BYTES[1]) return false;
  const end = pathStart + UNCOUNTED_BYTES.length;
  return end <= pathEnd && UNCOUNTED_BYTES.equals(bytes.subarray(pathStart, end));
}

/** Faster than the runtime's copy for the few bytes of most znodes. */
function copyWords(
  from: DataView,
  start: number,
  { to, at, length }: { readonly to: DataView; readonly at: number; readonly length: number },
): void {
  let done = 0;
  for (; done + 4 <= length; done += 4) to.setInt32(at + done, from.getInt32(start + done));
  for (; done < length; done++) to.setUint8(at + done, from.getUint8(start + done));
}

/** The digest has pzxid behind mzxid, a snapshot has it at the end. */
function copyNumbers(
  from: DataView,
  start: number,
  { to, at }: { readonly to: DataView; readonly at: number },
): void {
  copyWords(from, start, { to, at, length: 16 });
  copyWords(from, start + 52, { to, at: at + 16, length: 8 });
  copyWords(from, start + 16, { to, at: at + 24, length: 36 });
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
