// Compares the index with a set, over many splits, with hashes that share buckets and kinds.
import { describe, expect, it, vi } from 'vitest';
import { INT, NONE, NodeStore } from './node-store.js';
import { PAGE_BUCKETS, PathIndex } from './path-index.js';

const NODES = 5000;
const HASHES = 3000;

/** Some of the bits that choose a bucket are always 0, so several hashes share one. */
function hashOf(number: number): number {
  return Math.imul(number, 0x9e3779b1) & ~0xf00;
}

function nodesOf(store: NodeStore, index: PathIndex, hash: number): readonly number[] {
  const nodes: number[] = [];
  for (let node = index.first(hash); node !== NONE; node = index.next(node)) {
    if (store.int(node, INT.indexHash) === hash) nodes.push(node);
  }
  return nodes.sort((a, b) => a - b);
}

describe('the path index', () => {
  // From 1024 buckets on, it grows by a few at a time; at recovery to four times as many at once,
  // or to twice as many where the table is large already.
  for (const { insert, leapBucketsMax, buckets } of [
    { insert: 'insert', leapBucketsMax: undefined, buckets: 5024 },
    { insert: 'insertUpTo', leapBucketsMax: undefined, buckets: 4 * 4 * 1024 },
    { insert: 'insertUpTo', leapBucketsMax: 4096, buckets: 4 * 2 * 1024 },
    { insert: 'insertUpTo', leapBucketsMax: 0, buckets: 2 * 2 * 2 * 1024 },
  ]) {
    it(`finds what is in it and nothing else, after ${insert}, leaps to ${leapBucketsMax}`, () => {
      const store = new NodeStore();
      const index = new PathIndex(store, leapBucketsMax);
      // The root is in no index.
      store.allocate();
      const expected = new Map<number, number[]>();
      for (let number = 0; number < NODES; number++) {
        const node = store.allocate();
        const hash = hashOf(number % HASHES);
        store.setInt(node, INT.indexHash, hash);
        if (insert === 'insert') index.insert(node);
        // Inserts several at once.
        else if (number % 7 === 0 || number === NODES - 1) index.insertUpTo(node + 1);
        expected.set(hash, [...(expected.get(hash) ?? []), node]);
      }
      expect(index.bucketCount).toBe(buckets);
      for (const [hash, nodes] of expected) expect(nodesOf(store, index, hash)).toEqual(nodes);
      for (let number = 0; number < NODES; number += 3) {
        const nodes = expected.get(hashOf(number % HASHES)) ?? [];
        const node = number % 2 === 0 ? nodes.pop() : nodes.shift();
        if (node !== undefined) index.remove(node);
      }
      for (const [hash, nodes] of expected) expect(nodesOf(store, index, hash)).toEqual(nodes);
      for (let number = NODES; number < 2 * NODES; number++) {
        const node = store.allocate();
        const hash = hashOf((7 * number) % HASHES);
        store.setInt(node, INT.indexHash, hash);
        index.insert(node);
        expected.set(hash, [...(expected.get(hash) ?? []), node]);
      }
      for (const [hash, nodes] of expected) expect(nodesOf(store, index, hash)).toEqual(nodes);
      for (let number = HASHES; number < 2 * HASHES; number++) {
        const hash = hashOf(number);
        expect(nodesOf(store, index, hash)).toEqual(expected.get(hash) ?? []);
      }
    });
  }

  it('grows by a page at a time, however large it is', () => {
    const lengths: number[] = [];
    class Recorded extends Int32Array {
      constructor(length: number) {
        super(length);
        lengths.push(length);
      }
    }
    const store = new NodeStore();
    const nodes = Array.from({ length: 6 * PAGE_BUCKETS }, () => store.allocate());
    for (const node of nodes) store.setInt(node, INT.indexHash, hashOf(node));
    vi.stubGlobal('Int32Array', Recorded);
    try {
      const index = new PathIndex(store);
      for (const node of nodes.slice(1)) index.insert(node);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(Math.max(...lengths)).toBe(PAGE_BUCKETS);
    expect(lengths.filter((length) => length === PAGE_BUCKETS)).toHaveLength(6);
  });
});
