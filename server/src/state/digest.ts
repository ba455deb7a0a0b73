/**
 * The digest of the whole state: the sum, modulo 2^64, of one hash per znode and per session.
 *
 * A sum does not depend on the order of what went in, so each change costs only the hashes of what
 * it touched, and replicas agree whatever way they came by the same content (apply or recovery).
 * Held as two unsigned 32-bit halves that do not carry into each other.
 */
import type { AclTable } from './acl-table.js';
import { Hasher, type NameBytes } from './hash.js';
import { DIGEST_INTS, INT, type NodeStore } from './node-store.js';
import type { Session } from './session.js';
import type { SessionId } from './txn.js';

const NODE_SEED = 0x6e6f6465;
const CONTENT_SEED = 0x64617461;
const SESSION_SEED = 0x73657373;
const NULL_DATA = 1;
const SOME_DATA = 2;

export class Digest {
  readonly #hasher = new Hasher();
  #low = 0;
  #high = 0;

  toString(): string {
    return hex(this.#high) + hex(this.#low);
  }

  /** Call before a change of the row with -1 and after it with +1. */
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

  countSession(id: SessionId, session: Session, sign: 1 | -1): void {
    const hasher = this.#hasher;
    hasher.reset(SESSION_SEED);
    hasher.number(id);
    hasher.number(session.timeoutMs);
    hasher.bytes(session.password);
    this.#count(sign);
  }

  /** Writes the hash of path and data into the row, where `countNode` finds it. */
  storeContent(store: NodeStore, node: number, content: Content): void {
    const hasher = this.#hasher;
    hasher.reset(CONTENT_SEED);
    hasher.chars(content.path);
    hasher.word(content.data === null ? NULL_DATA : SOME_DATA);
    if (content.data !== null) {
      hasher.bytes(content.data);
    }
    hasher.finish();
    store.setInt(node, INT.contentLow, hasher.low);
    store.setInt(node, INT.contentHigh, hasher.high);
  }

  /** What `hashStored` goes on from, for all znodes whose path begins so. */
  prefixOf(path: string): ContentPrefix {
    const hasher = this.#hasher;
    hasher.reset(CONTENT_SEED);
    hasher.prefix(path);
    return { low: hasher.low, high: hasher.high, length: path.length };
  }

  /** The same hash as `storeContent` stores, from bytes as a checkpoint has them. */
  hashStored(prefix: ContentPrefix, name: NameBytes, dataEnd: number): Hash64 {
    const hasher = this.#hasher;
    hasher.low = prefix.low;
    hasher.high = prefix.high;
    const { bytes, start, end, unitBytes } = name;
    hasher.suffix(name, prefix.length + (end - start) / unitBytes);
    hasher.word(dataEnd < end ? NULL_DATA : SOME_DATA);
    if (dataEnd >= end) {
      hasher.bytes(bytes, end, dataEnd);
    }
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

export interface ContentPrefix extends Hash64 {
  /** Code units. */
  readonly length: number;
}

export interface Content {
  readonly path: string;
  readonly data: Uint8Array | null;
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}
