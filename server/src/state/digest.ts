/**
 * Maintains the digest of the whole state: the sum of one hash per znode, per session, and for the
 * level.
 *
 * A sum does not depend on the order of its terms. Each change therefore costs only the hashes of
 * what it touched, and replicas agree however they arrived at the same content (by applying or by
 * recovery). A hash has 64 bits; its two halves are summed separately, each modulo 2^32.
 */
import type { AclTable } from './acl-table.js';
import { LEVEL } from './level.js';
import { Hasher } from './memory/hash.js';
import { DIGEST_INTS, INT, NONE, type NodeStore, nameBytesOf } from './memory/node-store.js';
import type { Payloads, RecordPart } from './memory/payloads.js';
import { CONFIG_NODE } from './node-record.js';
import type { Session } from './session-record.js';
import type { SessionId } from './txn.js';

const NODE_SEED = 0x6e6f6465;
const CONTENT_SEED = 0x64617461;
const SESSION_SEED = 0x73657373;
const LEVEL_SEED = 0x6c65766c;
const CLOSING = 0x636c6f73;

export class Digest {
  readonly #hasher = new Hasher();
  #low = 0;
  #high = 0;

  toString(): string {
    return hex(this.#high) + hex(this.#low);
  }

  /** Call it with -1 before the row changes and with +1 afterwards. */
  countNode(store: NodeStore, acls: AclTable, node: number, sign: 1 | -1): void {
    const hasher = this.#hasher;
    const base = store.intBase(node);
    hasher.reset(NODE_SEED);
    hasher.words(store.intPage(node), base, base + DIGEST_INTS);
    const acl = acls.hashOf(store.int(node, INT.aclId));
    hasher.word(acl.low);
    hasher.word(acl.high);
    this.#count(sign);
  }

  /** Copies the digest's ints of a record into the row of the node, and counts the node. */
  loadNode(store: NodeStore, acls: AclTable, node: number, ints: Int32Array, at: number): void {
    const hasher = this.#hasher;
    hasher.reset(NODE_SEED);
    const row = { words: store.intPage(node), at: store.intBase(node) };
    hasher.copied(ints, at, DIGEST_INTS, row);
    const acl = acls.hashOf(store.int(node, INT.aclId));
    hasher.word(acl.low);
    hasher.word(acl.high);
    this.#count(1);
  }

  /** Like `contentOf`, for a node that does not exist yet; its payload comes from `part`. */
  loadContent(
    store: NodeStore,
    payloads: Payloads,
    node: number,
    { pathHash, size, part }: LoadedContent,
  ): Hash64 {
    const hasher = this.#hasher;
    hasher.reset(CONTENT_SEED);
    hasher.word(pathHash);
    hasher.word(store.int(node, INT.dataBytes));
    payloads.copyFrom(node, size, part, hasher);
    hasher.finish();
    return hasher;
  }

  /** Like `countNode`, for a record that is in no row. */
  countRecord(ints: Int32Array, at: number, acl: Hash64): void {
    const hasher = this.#hasher;
    hasher.reset(NODE_SEED);
    hasher.words(ints, at, at + DIGEST_INTS);
    hasher.word(acl.low);
    hasher.word(acl.high);
    this.#count(1);
  }

  /** Like `contentOf`, for a record that is in no row. */
  recordContent(content: LoadedContent & { readonly dataBytes: number }): Hash64 {
    const hasher = this.#hasher;
    hasher.reset(CONTENT_SEED);
    hasher.word(content.pathHash);
    hasher.word(content.dataBytes);
    if (content.size > 0) hasher.packed(content.part.words, content.part.at, content.size);
    hasher.finish();
    return hasher;
  }

  countSession(id: SessionId, session: Session, sign: 1 | -1): void {
    const hasher = this.#hasher;
    hasher.reset(SESSION_SEED);
    hasher.number(id);
    hasher.number(session.timeoutMs);
    hasher.bytes(session.password);
    if (session.isClosing) hasher.word(CLOSING);
    this.#count(sign);
  }

  /** The first level contributes nothing: a fresh state has the digest of its znodes. */
  countLevel(level: number, sign: 1 | -1): void {
    if (level === LEVEL.first) return;
    const hasher = this.#hasher;
    hasher.reset(LEVEL_SEED);
    hasher.number(level);
    this.#count(sign);
  }

  /** Writes the hash of path and data into the row, where `countNode` finds it. */
  storeContent(store: NodeStore, payloads: Payloads, node: number, pathHash: number): void {
    const { low, high } = this.contentOf(store, payloads, node, pathHash);
    store.setInt(node, INT.contentLow, low);
    store.setInt(node, INT.contentHigh, high);
  }

  /**
   * Hashes name and data as they are stored, after the hash of the path, which is the one that all
   * members share (hash.ts; 0 for the root). The result is valid until the next call. The data of
   * /zookeeper/config are local and count as none.
   */
  contentOf(store: NodeStore, payloads: Payloads, node: number, pathHash: number): Hash64 {
    const hasher = this.#hasher;
    const dataBytes = node === CONFIG_NODE ? NONE : store.int(node, INT.dataBytes);
    hasher.reset(CONTENT_SEED);
    hasher.word(pathHash);
    hasher.word(dataBytes);
    payloads.hash(node, nameBytesOf(store.int(node, INT.shape)) + Math.max(0, dataBytes), hasher);
    hasher.finish();
    return hasher;
  }

  #count(sign: 1 | -1): void {
    const hasher = this.#hasher;
    hasher.finish();
    this.#low = (this.#low + sign * hasher.low) | 0;
    this.#high = (this.#high + sign * hasher.high) | 0;
  }
}

export interface Hash64 {
  readonly low: number;
  readonly high: number;
}

interface LoadedContent {
  readonly pathHash: number;
  readonly size: number;
  readonly part: RecordPart;
}

/** Converts 16 bits at a time, because V8 takes far longer for larger numbers. */
function hex(half: number): string {
  return hex16(half >>> 16) + hex16(half & 0xffff);
}

function hex16(bits: number): string {
  return bits.toString(16).padStart(4, '0');
}
