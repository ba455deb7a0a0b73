/**
 * Iterates over the records of a block (node-record.ts) and checks their form.
 *
 * The bytes come from a disk. A checksum guards them, but they are still never trusted so far that
 * a read could leave them. The fields are those of the record at which `next` arrived; there is no
 * object for each record. Called by TreeLoader.
 */
import { must } from './damage.js';
import type { NameBytes } from './memory/hash.js';
import { FLAG, INT, nameBytesOf, SHAPE_MASK } from './memory/node-store.js';
import { BLOCK_FORMAT, BLOCK_HEAD, RECORD, RECORD_BITS, RECORD_HEAD } from './node-record.js';

export class BlockReader implements NameBytes {
  readonly ints: Int32Array;
  readonly bytes: Buffer;
  readonly count: number;
  /** The index of the record, -1 before the first. */
  index = -1;
  /** The word at which the record begins. */
  at = 0;
  sizeBytes = 0;
  shape = 0;
  childCount = 0;
  /** -1 for null data. */
  dataBytes = 0;
  /** Where the name begins; the data begin where it ends. In bytes, like the others. */
  start = 0;
  end = 0;
  unitBytes: 1 | 2 = 1;
  /**
   * The list and the parent that apply to this record, whether they came with it or with an earlier
   * one.
   */
  aclStart = 0;
  aclEnd = 0;
  parentStart = 0;
  parentEnd = 0;
  #next = BLOCK_HEAD;

  /** Throws DamagedCheckpointError, as does `next`. */
  constructor(value: Uint8Array) {
    const aligned = value.byteOffset % 4 === 0 ? value : Uint8Array.from(value);
    const { buffer, byteOffset, length } = aligned;
    this.bytes = Buffer.from(buffer, byteOffset, length);
    this.ints = new Int32Array(buffer, byteOffset, length >>> 2);
    this.count = this.ints[1] ?? 0;
    must(length % 4 === 0 && this.ints[0] === BLOCK_FORMAT, 'a block has another format');
    must(this.count > 0 && this.count < 1 << RECORD_BITS, 'a block has no such number of records');
  }

  /** Returns false after the last record. */
  next(): boolean {
    const { ints, bytes } = this;
    const at = this.#next;
    this.at = at;
    this.index++;
    if (this.index === this.count) {
      must(at === ints.length, 'a block is longer than its records');
      return false;
    }
    must(at + RECORD_HEAD <= ints.length, 'a record is cut short');
    this.shape = ints[at + INT.shape] ?? 0;
    this.childCount = ints[at + RECORD.childCount] ?? 0;
    this.dataBytes = ints[at + RECORD.dataBytes] ?? 0;
    const aclBytes = ints[at + RECORD.aclBytes] ?? 0;
    const parentBytes = ints[at + RECORD.parentBytes] ?? 0;
    must((this.shape & ~SHAPE_MASK) === 0, 'a record has an unknown flag');
    must(this.dataBytes >= -1 && aclBytes >= 0 && parentBytes >= -1, 'a length is negative');
    must(this.childCount >= 0, 'a number of children is negative');
    this.start = 4 * (at + RECORD_HEAD);
    this.end = this.start + nameBytesOf(this.shape);
    this.unitBytes = (this.shape & FLAG.wide) === 0 ? 1 : 2;
    const dataEnd = this.end + Math.max(0, this.dataBytes);
    const extraStart = aligned(dataEnd);
    const extraEnd = extraStart + aclBytes + Math.max(0, parentBytes);
    const end = aligned(extraEnd);
    must(end <= bytes.length, 'a record is cut short');
    must(isZero(bytes, dataEnd, extraStart) && isZero(bytes, extraEnd, end), 'a gap is not empty');
    if (aclBytes > 0) {
      this.aclStart = extraStart;
      this.aclEnd = extraStart + aclBytes;
    }
    if (parentBytes >= 0) {
      this.parentStart = extraStart + aclBytes;
      this.parentEnd = extraEnd;
    }
    must(this.aclEnd > 0 && this.parentEnd > 0, 'the first record has no ACL or no parent');
    this.sizeBytes = end - 4 * at;
    this.#next = end / 4;
    return true;
  }
}

/** Works for numbers beyond 2^31 too, because lengths are not to be trusted. */
function aligned(bytes: number): number {
  return 4 * Math.ceil(bytes / 4);
}

function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (bytes[i] !== 0) {
      return false;
    }
  }
  return true;
}
