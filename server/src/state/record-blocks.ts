/**
 * Knows which record blocks the checkpoint on disk has, and which of their records are dead.
 *
 * A block is written once. A record is *dead* when its znode has a newer one or is gone. The
 * indexes of the dead ones are a bitmap under the key 'd' + number of the block, so that a recovery
 * may take the live records in any order. A block without a live record is removed; the znodes of a
 * block that is less than half full are written again by Capture. A record is identified by `number
 * of its block << RECORD_BITS | index`, which is never 0. Changed by Capture only, together with
 * what it hands out.
 */
import { assert } from '@rookery/protocol';
import { DamagedCheckpointError, must } from './damage.js';
import type { NameBytes } from './memory/hash.js';
import { FLAG, INT, nameBytesOf, SHAPE_MASK } from './memory/node-store.js';
import {
  BLOCK_FORMAT,
  BLOCK_HEAD,
  BLOCK_KEY,
  type BlockContent,
  LONE_RECORD_BYTES,
  RECORD,
  RECORD_BITS,
  RECORD_HEAD,
} from './node-record.js';

export const DEAD_KEY = 0x64;
const KEY_BYTES = 5;
const INDEX_MASK = (1 << RECORD_BITS) - 1;
const NUMBER_MAX = (1 << (31 - RECORD_BITS)) - 1;

/**
 * One record of a checkpoint. A null value deletes. If a key occurs twice, the later one counts.
 */
export interface CheckpointRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  /**
   * The value has memory of its own, with HEADROOM_BYTES free right before it for whatever stores
   * it.
   */
  readonly hasChecksumRoom?: true;
}

interface RecordBlock {
  /** By index. The row may belong to another node by now. */
  readonly nodes: Int32Array;
  readonly sizes: Int32Array;
  /** One bit for each record. */
  readonly dead: Uint8Array;
  readonly bytes: number;
  livingBytes: number;
  livingCount: number;
}

export class RecordBlocks {
  readonly #blocks = new Map<number, RecordBlock>();
  readonly #freeNumbers: number[] = [];
  #lastNumber = 0;
  /** Blocks that may have become sparse. */
  readonly #thinned = new Set<number>();
  /** Blocks in which a record died that was not handed out as dead yet. */
  readonly #touched = new Set<number>();
  /** During recovery: bitmaps whose blocks have not come yet. */
  readonly #loadedDead = new Map<number, Uint8Array>();

  /** Numbers are used again once the block that had one is gone from the disk. */
  takeNumber(): number {
    const number = this.#freeNumbers.pop() ?? ++this.#lastNumber;
    assert(number <= NUMBER_MAX, () => `${number} is the number of a block`);
    return number;
  }

  add(number: number, { nodes, sizes }: BlockContent): void {
    const dead = new Uint8Array((nodes.length + 7) >>> 3);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const living = { livingBytes: bytes, livingCount: nodes.length };
    this.#blocks.set(number, { nodes, sizes, dead, bytes, ...living });
    this.#thinned.add(number);
  }

  kill(record: number): void {
    const number = record >>> RECORD_BITS;
    const index = record & INDEX_MASK;
    const block = this.#block(number);
    const byte = block.dead[index >>> 3] ?? 0;
    const bit = 1 << (index & 7);
    assert(index < block.nodes.length && (byte & bit) === 0, 'a record dies once');
    block.dead[index >>> 3] = byte | bit;
    block.livingBytes -= block.sizes[index] ?? 0;
    block.livingCount--;
    this.#touched.add(number);
    this.#thinned.add(number);
  }

  get hasTouched(): boolean {
    return this.#touched.size > 0;
  }

  /** Returns the new bitmaps, or the deletions, of the blocks in which records died. */
  takeTouched(): readonly CheckpointRecord[] {
    for (const number of this.#touched) {
      this.#touched.delete(number);
      const block = this.#block(number);
      if (block.livingCount > 0) {
        return [{ key: keyOf(DEAD_KEY, number), value: Uint8Array.from(block.dead) }];
      }
      this.#blocks.delete(number);
      this.#thinned.delete(number);
      this.#freeNumbers.push(number);
      return [
        { key: blockKey(number), value: null },
        { key: keyOf(DEAD_KEY, number), value: null },
      ];
    }
    return [];
  }

  /**
   * Returns the nodes of a block that is less than half full, and the record that the first of them
   * had, or null if there is none. Each block is returned once, and again after more of its records
   * died. The block of a large record is full.
   */
  takeSparse(blockBytes: number): { readonly nodes: Int32Array; readonly first: number } | null {
    for (const number of this.#thinned) {
      this.#thinned.delete(number);
      const { nodes, bytes, livingBytes } = this.#block(number);
      if (nodes.length === 1 && bytes >= LONE_RECORD_BYTES) continue;
      if (2 * livingBytes < Math.max(blockBytes, bytes)) {
        return { nodes, first: number << RECORD_BITS };
      }
    }
    return null;
  }

  /** Recovery: loads a bitmap, which comes before its block. Throws DamagedCheckpointError. */
  loadDead(key: Uint8Array, value: Uint8Array): void {
    this.#loadedDead.set(numberOf(key), Uint8Array.from(value));
  }

  /**
   * Recovery: returns the number of the block with that key, and its bitmap, or null if none came.
   */
  loading(key: Uint8Array): { readonly number: number; readonly dead: Uint8Array | null } {
    const number = numberOf(key);
    const dead = this.#loadedDead.get(number) ?? null;
    this.#loadedDead.delete(number);
    return { number, dead };
  }

  loaded(number: number, content: BlockContent, dead: Uint8Array | null): void {
    this.#lastNumber = Math.max(this.#lastNumber, number);
    this.add(number, content);
    for (let index = 0; dead !== null && index < content.nodes.length; index++) {
      if (isDead(dead, index)) {
        this.kill((number << RECORD_BITS) | index);
      }
    }
  }

  /** Ends recovery. Throws DamagedCheckpointError. */
  finishLoad(): void {
    for (const number of this.#loadedDead.keys()) {
      throw new DamagedCheckpointError(`block ${number} is missing, but has dead records`);
    }
    this.#touched.clear();
    for (let number = this.#lastNumber; number > 0; number--) {
      if (!this.#blocks.has(number)) {
        this.#freeNumbers.push(number);
      }
    }
  }

  #block(number: number): RecordBlock {
    const block = this.#blocks.get(number);
    assert(block !== undefined, () => `block ${number} is there`);
    return block;
  }
}

export function blockKey(number: number): Uint8Array {
  return keyOf(BLOCK_KEY, number);
}

export function isDead(dead: Uint8Array, index: number): boolean {
  return ((dead[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

function keyOf(kind: number, number: number): Uint8Array {
  return Uint8Array.of(kind, number >>> 24, number >>> 16, number >>> 8, number);
}

function numberOf(key: Uint8Array): number {
  const number =
    key.length === KEY_BYTES ? new DataView(key.buffer, key.byteOffset).getInt32(1) : 0;
  if (number <= 0 || number > NUMBER_MAX) {
    throw new DamagedCheckpointError(
      `the key of a block has ${key.length} bytes, number ${number}`,
    );
  }
  return number;
}

/**
 * Iterates over the records of a block (node-record.ts) and checks their form.
 *
 * The bytes come from a disk. A checksum guards them, but they are still never trusted so far that
 * a read could leave them. The fields are those of the record at which `next` arrived; there is no
 * object for each record.
 */
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
