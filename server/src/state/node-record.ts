/**
 * Encodes znodes for a checkpoint in record blocks, each with the records of many znodes, written
 * once.
 *
 * The key is 'p' and the block's number. The value is 32-bit words in the byte order of the
 * machine: the format, the number of records, then the records. A record consists of the words of
 * RECORD, the name and the data as they are stored in memory, and then the ACL list and the path of
 * the parent where they differ from those of the record before. Each of these two parts is filled
 * up to a word with zeros. The data of /zookeeper/config is left out, because it is local.
 * TreeLoader reads the blocks back.
 */
import type { AclTable } from './acl-table.js';
import { DIGEST_INTS, INT, NONE, type NodeStore, nameBytesOf } from './memory/node-store.js';
import type { Payloads } from './memory/payloads.js';

export const BLOCK_KEY = 0x70;
/** Reads as another number where the byte order differs. */
export const BLOCK_FORMAT = 0x7061_0001;
/** The words before the first record: format and count. */
export const BLOCK_HEAD = 2;
/** The bits of a record's index in its block. */
export const RECORD_BITS = 11;
const RECORDS_MAX = (1 << RECORD_BITS) - 1;
/** The memory that is kept from one block to the next. */
const KEPT_BYTES = 1 << 19;
const RESERVED_WORDS = 1 << 12;
/**
 * A record of this size has a block to itself: the block dies with it, and nothing has to be
 * written again because its neighbours died.
 */
export const LONE_RECORD_BYTES = 4 << 10;
/**
 * Free bytes before a block in its memory, so that what precedes it on disk needs no copy of it.
 */
export const HEADROOM_BYTES = 4;

/**
 * Indexes of the words of a record; before them are the row's own words, which the digest covers.
 */
export const RECORD = {
  childCount: DIGEST_INTS,
  /** -1 for null data. */
  dataBytes: DIGEST_INTS + 1,
  /** 0: the list is that of the record before. */
  aclBytes: DIGEST_INTS + 2,
  /**
   * -1: the parent is that of the record before. The root's record has 0, because it has no parent.
   */
  parentBytes: DIGEST_INTS + 3,
} as const;
export const RECORD_HEAD = DIGEST_INTS + 4;

/** The local znode, whose data is in no checkpoint. */
export const CONFIG_NODE = 3;

/** The tree, as records are made from it. */
export interface RecordSource {
  readonly store: NodeStore;
  readonly payloads: Payloads;
  readonly acls: AclTable;
  path(node: number): string;
}

/** The nodes of a block and the bytes of their records, by index. */
export interface BlockContent {
  readonly nodes: Int32Array;
  readonly sizes: Int32Array;
}

interface WrittenBlock extends BlockContent {
  readonly value: Uint8Array;
}

function wordsFor(bytes: number): number {
  return (bytes + 3) >>> 2;
}

/** The approximate size of the record. */
export function nodeRecordBytes(store: NodeStore, node: number): number {
  const row = store.intPage(node);
  const base = store.intBase(node);
  const dataBytes = Math.max(0, row[base + INT.dataBytes] ?? 0);
  return 4 * RECORD_HEAD + nameBytesOf(row[base + INT.shape] ?? 0) + dataBytes;
}

/** Writes one record block after the other, in memory that is used again. */
export class BlockWriter {
  #bytes = Buffer.alloc(0);
  #ints = new Int32Array(0);
  /** The number of words written. */
  #length = BLOCK_HEAD;
  #nodes: number[] = [];
  #sizes: number[] = [];
  /**
   * The parent of the record before. No other row or list can take over the number while both are
   * written.
   */
  #parent: number | null = null;
  #aclId: number | null = null;

  get count(): number {
    return this.#nodes.length;
  }
  isFull(blockBytes: number): boolean {
    return 4 * this.#length >= blockBytes || this.#nodes.length === RECORDS_MAX;
  }

  /** The record's index is the count before the call. Returns its size in bytes. */
  add(source: RecordSource, node: number): number {
    const { store, payloads, acls } = source;
    const row = store.intPage(node);
    const base = store.intBase(node);
    const dataBytes = node === CONFIG_NODE ? NONE : (row[base + INT.dataBytes] ?? NONE);
    const payloadBytes = nameBytesOf(row[base + INT.shape] ?? 0) + Math.max(0, dataBytes);
    const parent = row[base + INT.parent] ?? NONE;
    const aclId = row[base + INT.aclId] ?? NONE;
    const parentPath =
      parent === this.#parent ? null : Buffer.from(parent === NONE ? '' : source.path(parent));
    const acl = aclId === this.#aclId ? null : acls.encoded(aclId);
    const extraBytes = (acl?.length ?? 0) + (parentPath?.length ?? 0);
    const at = this.#length;
    const payloadAt = at + RECORD_HEAD;
    const extraAt = payloadAt + wordsFor(payloadBytes);
    const end = extraAt + wordsFor(extraBytes);
    this.#reserve(end);
    const ints = this.#ints;
    for (let i = 0; i < DIGEST_INTS; i++) {
      ints[at + i] = row[base + i] ?? 0;
    }
    ints[at + RECORD.childCount] = row[base + INT.childCount] ?? 0;
    ints[at + RECORD.dataBytes] = dataBytes;
    ints[at + RECORD.aclBytes] = acl?.length ?? 0;
    ints[at + RECORD.parentBytes] = parentPath?.length ?? -1;
    if (payloadBytes > 0) {
      payloads.copyTo(node, payloadBytes, { words: ints, bytes: this.#bytes, at: payloadAt });
      for (let i = 4 * payloadAt + payloadBytes; i < 4 * extraAt; i++) {
        this.#bytes[i] = 0;
      }
    }
    if (extraBytes > 0) {
      ints[end - 1] = 0;
      acl?.copy(this.#bytes, 4 * extraAt);
      parentPath?.copy(this.#bytes, 4 * extraAt + (acl?.length ?? 0));
    }
    this.#length = end;
    this.#nodes.push(node);
    this.#sizes.push(4 * (end - at));
    this.#parent = parent;
    this.#aclId = aclId;
    return 4 * (end - at);
  }

  /** Returns the block and begins the next one. */
  take(): WrittenBlock {
    this.#ints[0] = BLOCK_FORMAT;
    this.#ints[1] = this.#nodes.length;
    const bytes = 4 * this.#length;
    const value = Buffer.allocUnsafeSlow(HEADROOM_BYTES + bytes).subarray(HEADROOM_BYTES);
    this.#bytes.copy(value, 0, 0, bytes);
    const block = {
      value,
      nodes: Int32Array.from(this.#nodes),
      sizes: Int32Array.from(this.#sizes),
    };
    this.#nodes = [];
    this.#sizes = [];
    this.#length = BLOCK_HEAD;
    this.#parent = null;
    this.#aclId = null;
    // One large znode must not keep its memory for good.
    if (this.#bytes.length > KEPT_BYTES) {
      this.#bytes = Buffer.alloc(0);
      this.#ints = new Int32Array(0);
    }
    return block;
  }

  #reserve(words: number): void {
    if (words <= this.#ints.length) {
      return;
    }
    const larger = new Int32Array(Math.max(words, 2 * this.#ints.length, RESERVED_WORDS));
    larger.set(this.#ints.subarray(0, this.#length));
    this.#ints = larger;
    this.#bytes = Buffer.from(larger.buffer);
  }
}
