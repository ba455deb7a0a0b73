/**
 * The bytes of znodes in a checkpoint: packs, each with the records of many znodes, written once.
 *
 * Key 'p' + number, value 32-bit words in the byte order of the machine: the format, how many
 * records, then the records. A record is the words of RECORD, the name and the data as they lie in
 * memory, then the ACL list and the path of the parent where they are not those of the record
 * before; each of the two parts is filled up to a word with zeros. The data of
 * /zookeeper/config is left out, it is local. TreeLoader reads it back.
 */
import type { AclTable } from './acl-table.js';
import { DIGEST_INTS, INT, NONE, type NodeStore, nameBytesOf } from './node-store.js';
import type { Payloads } from './payloads.js';

export const PACK_KEY = 0x70;
/** Reads as another number where bytes have another order. */
export const PACK_FORMAT = 0x7061_0001;
/** Words before the first record: format, count. */
export const PACK_HEAD = 2;
/** Of the index of a record in its pack. */
export const RECORD_BITS = 11;
const RECORDS_MAX = (1 << RECORD_BITS) - 1;
/** Memory that is kept from one pack to the next. */
const KEPT_BYTES = 1 << 19;
const RESERVED_WORDS = 1 << 12;
/** Before a pack in its memory: so that what goes in front of it on disk needs no copy of it. */
export const ROOM_BYTES = 4;

/** Indexes of the words of a record; in front of them the row's own that the digest covers. */
export const RECORD = {
  childCount: DIGEST_INTS,
  /** -1 for null data. */
  dataBytes: DIGEST_INTS + 1,
  /** 0: the list of the record before. */
  aclBytes: DIGEST_INTS + 2,
  /** -1: the parent of the record before. The root's has 0, it has none. */
  parentBytes: DIGEST_INTS + 3,
} as const;
export const RECORD_HEAD = DIGEST_INTS + 4;

/** The local znode: its data is in no checkpoint. */
export const CONFIG_NODE = 3;

/** What a record is made of. */
export interface NodeParts {
  readonly store: NodeStore;
  readonly payloads: Payloads;
  readonly acls: AclTable;
  path(node: number): string;
}

/** The nodes of a pack and the bytes of their records, by index. */
export interface PackContent {
  readonly nodes: Int32Array;
  readonly sizes: Int32Array;
}

export interface WrittenPack extends PackContent {
  readonly value: Uint8Array;
}

export function wordsFor(bytes: number): number {
  return (bytes + 3) >>> 2;
}

/** About the size of the record. */
export function nodeRecordBytes(store: NodeStore, node: number): number {
  const row = store.intPage(node);
  const base = store.intBase(node);
  const dataBytes = Math.max(0, row[base + INT.dataBytes] ?? 0);
  return 4 * RECORD_HEAD + nameBytesOf(row[base + INT.shape] ?? 0) + dataBytes;
}

/** One pack after the other, in memory that is used again. */
export class PackWriter {
  #bytes = Buffer.alloc(0);
  #ints = new Int32Array(0);
  /** Words written. */
  #length = PACK_HEAD;
  #nodes: number[] = [];
  #sizes: number[] = [];
  /** Of the record before. No row and no list can take the number over while both are written. */
  #parent: number | null = null;
  #aclId: number | null = null;

  get count(): number {
    return this.#nodes.length;
  }
  isFull(packBytes: number): boolean {
    return 4 * this.#length >= packBytes || this.#nodes.length === RECORDS_MAX;
  }

  /** Its index is the count before. Returns the bytes that it took. */
  add(parts: NodeParts, node: number): number {
    const { store, payloads, acls } = parts;
    const row = store.intPage(node);
    const base = store.intBase(node);
    const dataBytes = node === CONFIG_NODE ? NONE : (row[base + INT.dataBytes] ?? NONE);
    const payloadBytes = nameBytesOf(row[base + INT.shape] ?? 0) + Math.max(0, dataBytes);
    const parent = row[base + INT.parent] ?? NONE;
    const aclId = row[base + INT.aclId] ?? NONE;
    const parentPath =
      parent === this.#parent ? null : Buffer.from(parent === NONE ? '' : parts.path(parent));
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

  /** The pack; the next one begins. */
  take(): WrittenPack {
    this.#ints[0] = PACK_FORMAT;
    this.#ints[1] = this.#nodes.length;
    const value = new Uint8Array(ROOM_BYTES + 4 * this.#length).subarray(ROOM_BYTES);
    value.set(this.#bytes.subarray(0, value.length));
    const pack = {
      value,
      nodes: Int32Array.from(this.#nodes),
      sizes: Int32Array.from(this.#sizes),
    };
    this.#nodes = [];
    this.#sizes = [];
    this.#length = PACK_HEAD;
    this.#parent = null;
    this.#aclId = null;
    // One large znode does not take its memory for good.
    if (this.#bytes.length > KEPT_BYTES) {
      this.#bytes = Buffer.alloc(0);
      this.#ints = new Int32Array(0);
    }
    return pack;
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
