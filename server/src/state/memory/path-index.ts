/**
 * Maps the hash of a path to the nodes that have it: a linear hash table (Litwin 1980).
 *
 * It grows by splitting a few buckets at a time, so no insert ever rehashes everything: a table of
 * a million paths that doubled at once would stall every client. For the same reason it consists of
 * pages, none of which is ever copied. Chains run through the rows (nextInBucket); there is no
 * object and no string for each node. It never shrinks.
 *
 * The hash is keyed (path-hash.ts), so clients cannot choose paths that share a chain. Owned by
 * PathFinder.
 */
import { assert } from '@rookery/protocol';
import { INT, NONE, type NodeStore } from './node-store.js';

const BUCKETS_MIN = 1 << 10;
/** The number of buckets that are split at once, a part of BUCKETS_MIN. */
const SPLITS = 32;
const PAGE_BITS = 14;
export const PAGE_BUCKETS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_BUCKETS - 1;
const NO_HEADS = new Int32Array(0);
const NO_KINDS = new Uint8Array(0);
/** A smaller table becomes four times as large at once during recovery; it has 5 MB then. */
const LEAP_BUCKETS_MAX = 1 << 20;

export class PathIndex {
  readonly #store: NodeStore;
  readonly #heads: Int32Array[] = [];
  /**
   * For each bucket, which `kindOf` values its hashes have or had: an unsuccessful search mostly
   * reads no row.
   */
  readonly #kinds: Uint8Array[] = [];
  /** The buckets in use, between #round and 2 * #round. Those below #buckets - #round are split. */
  #buckets = BUCKETS_MIN;
  #round = BUCKETS_MIN;
  #count = 0;
  /** The hashes of the first nodes of the buckets that are being split. */
  readonly #hashes = new Int32Array(SPLITS);
  readonly #leapBucketsMax: number;

  /** Tests set a smaller `leapBucketsMax`. */
  constructor(store: NodeStore, leapBucketsMax = LEAP_BUCKETS_MAX) {
    this.#store = store;
    this.#leapBucketsMax = leapBucketsMax;
    this.#addPages(BUCKETS_MIN);
  }

  /** For tests: the number of buckets. */
  get bucketCount(): number {
    return this.#buckets;
  }

  /** The head of the chain that contains a node of this hash, if there is one; then use `next`. */
  first(hash: number): number {
    const bucket = this.#bucketOf(hash);
    if ((this.#kindsOf(bucket) & kindOf(hash)) === 0) return NONE;
    return this.#headOf(bucket);
  }
  next(node: number): number {
    return this.#store.int(node, INT.nextInBucket);
  }

  insert(node: number): void {
    this.#link(this.#store.int(node, INT.indexHash), node);
    this.#count++;
    if (this.#count > this.#buckets) {
      this.#split();
    }
  }

  /**
   * Recovery: like `insert` of all nodes from the first one that was not inserted to `limit`,
   * arranged so that the waits for memory overlap. The table is enlarged all at once, which is far
   * cheaper and stalls no client. The root is in no table.
   */
  insertUpTo(limit: number): void {
    for (let node = this.#count + 1; node < limit; node++) {
      if (this.#count >= this.#buckets) {
        this.#resize();
      }
      this.#link(this.#store.int(node, INT.indexHash), node);
      this.#count++;
    }
  }

  remove(node: number): void {
    const bucket = this.#bucketOf(this.#store.int(node, INT.indexHash));
    const next = this.next(node);
    let current = this.#headOf(bucket);
    if (current === node) {
      this.#set(bucket, next, next === NONE ? 0 : this.#kindsOf(bucket));
    } else {
      while (this.next(current) !== node) {
        current = this.next(current);
        assert(current !== NONE, 'a node is in the chain of its hash');
      }
      this.#store.setInt(current, INT.nextInBucket, next);
    }
    this.#count--;
  }

  #bucketOf(hash: number): number {
    const bucket = hash & (this.#round - 1);
    return bucket < this.#buckets - this.#round ? hash & (2 * this.#round - 1) : bucket;
  }

  #link(hash: number, node: number): void {
    const bucket = this.#bucketOf(hash);
    this.#store.setInt(node, INT.nextInBucket, this.#headOf(bucket));
    this.#set(bucket, node, this.#kindsOf(bucket) | kindOf(hash));
  }

  #headOf(bucket: number): number {
    return (this.#heads[bucket >>> PAGE_BITS] ?? NO_HEADS)[bucket & PAGE_MASK] ?? NONE;
  }
  #kindsOf(bucket: number): number {
    return (this.#kinds[bucket >>> PAGE_BITS] ?? NO_KINDS)[bucket & PAGE_MASK] ?? 0;
  }
  #set(bucket: number, head: number, kinds: number): void {
    (this.#heads[bucket >>> PAGE_BITS] ?? NO_HEADS)[bucket & PAGE_MASK] = head;
    (this.#kinds[bucket >>> PAGE_BITS] ?? NO_KINDS)[bucket & PAGE_MASK] = kinds;
  }

  /** Makes room for this many buckets. */
  #addPages(buckets: number): void {
    while (this.#heads.length << PAGE_BITS < buckets) {
      this.#heads.push(new Int32Array(PAGE_BUCKETS).fill(NONE));
      this.#kinds.push(new Uint8Array(PAGE_BUCKETS));
    }
  }

  /** Every row but the root's is in the table by now. */
  #resize(): void {
    this.#round *= this.#round < this.#leapBucketsMax ? 4 : 2;
    this.#buckets = this.#round;
    for (const heads of this.#heads) heads.fill(NONE);
    for (const kinds of this.#kinds) kinds.fill(0);
    this.#addPages(this.#buckets);
    for (let node = 1; node <= this.#count; node++) {
      this.#link(this.#store.int(node, INT.indexHash), node);
    }
  }

  /**
   * Splits the next few buckets. Their rows are anywhere in memory: all of them are read before
   * anything is done with them, so that the waits for memory overlap.
   */
  #split(): void {
    this.#addPages(this.#buckets + SPLITS);
    const from = this.#buckets - this.#round;
    for (let index = 0; index < SPLITS; index++) {
      const head = this.#headOf(from + index);
      this.#hashes[index] = head === NONE ? 0 : this.#store.int(head, INT.indexHash);
    }
    this.#buckets += SPLITS;
    for (let index = 0; index < SPLITS; index++) {
      let node = this.#headOf(from + index);
      let hash = this.#hashes[index] ?? 0;
      this.#set(from + index, NONE, 0);
      while (node !== NONE) {
        const next = this.next(node);
        this.#link(hash, node);
        node = next;
        hash = node === NONE ? 0 : this.#store.int(node, INT.indexHash);
      }
    }
    if (this.#buckets === 2 * this.#round) {
      this.#round = this.#buckets;
    }
  }
}

/**
 * One of eight bits, chosen by bits of the hash that choose no bucket as long as there is memory.
 */
function kindOf(hash: number): number {
  return 1 << (hash >>> 29);
}
