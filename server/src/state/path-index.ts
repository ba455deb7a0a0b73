/**
 * From the hash of a path to the nodes that have it: a linear hash table (Litwin 1980).
 *
 * It grows by splitting one bucket per insert, so no insert ever rehashes everything: a table of a
 * million paths that doubles at once would stall every client. Chains run through the rows
 * (nextInBucket); there is no object and no string per node. It never shrinks.
 *
 * The hash is not keyed: a client that builds colliding paths on purpose can make a chain long.
 */
import { assert } from '@rookery/protocol';
import { INT, NONE, type NodeStore } from './node-store.js';

const BUCKETS_MIN = 1 << 10;

export class PathIndex {
  readonly #store: NodeStore;
  #heads = new Int32Array(BUCKETS_MIN).fill(NONE);
  /** Buckets in use: between #round and 2 * #round. Those below #buckets - #round are split. */
  #buckets = BUCKETS_MIN;
  #round = BUCKETS_MIN;
  #count = 0;

  constructor(store: NodeStore) {
    this.#store = store;
  }

  /** The head of the chain in which a node of this hash lies; go on with `next`. */
  first(hash: number): number {
    return this.#heads[this.#bucketOf(hash)] ?? NONE;
  }
  next(node: number): number {
    return this.#store.int(node, INT.nextInBucket);
  }

  insert(node: number): void {
    this.#link(this.#bucketOf(this.#store.int(node, INT.pathHash)), node);
    this.#count++;
    if (this.#count > this.#buckets) {
      this.#split();
    }
  }

  /**
   * Recovery: as `insert`, but the table is made larger all at once, which is cheaper by far and
   * stalls nobody.
   */
  insertAtLoad(node: number): void {
    if (this.#count >= this.#buckets) {
      this.#resize();
    }
    this.#link(this.#bucketOf(this.#store.int(node, INT.pathHash)), node);
    this.#count++;
  }

  remove(node: number): void {
    const bucket = this.#bucketOf(this.#store.int(node, INT.pathHash));
    const next = this.next(node);
    let current = this.#heads[bucket] ?? NONE;
    if (current === node) {
      this.#heads[bucket] = next;
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

  #link(bucket: number, node: number): void {
    this.#store.setInt(node, INT.nextInBucket, this.#heads[bucket] ?? NONE);
    this.#heads[bucket] = node;
  }

  /** Twice as large. Every row is in the table by now, but for the root's. */
  #resize(): void {
    this.#round *= 2;
    this.#buckets = this.#round;
    this.#heads = new Int32Array(this.#buckets).fill(NONE);
    for (let node = 1; node <= this.#count; node++) {
      this.#link(this.#bucketOf(this.#store.int(node, INT.pathHash)), node);
    }
  }

  #split(): void {
    if (this.#buckets === this.#heads.length) {
      const larger = new Int32Array(2 * this.#heads.length).fill(NONE, this.#heads.length);
      larger.set(this.#heads);
      this.#heads = larger;
    }
    const from = this.#buckets - this.#round;
    let node = this.#heads[from] ?? NONE;
    this.#heads[from] = NONE;
    this.#buckets++;
    while (node !== NONE) {
      const next = this.next(node);
      this.#link(this.#bucketOf(this.#store.int(node, INT.pathHash)), node);
      node = next;
    }
    if (this.#buckets === 2 * this.#round) {
      this.#round = this.#buckets;
    }
  }
}
