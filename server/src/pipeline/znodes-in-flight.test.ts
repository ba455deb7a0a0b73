// Random entries come and go, compared with a Map by path: each is found by its path, and no other.
// Hashes collide on purpose, the table grows, and entries are used again.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PathView, pathViewOf } from '../state/memory/path-view.js';
import { NO_NODE } from '../state/tree.js';
import { type ZnodeInFlight, ZnodesInFlight } from './overlay.js';

/** A path with one of `hashes` hashes, and its node in the tree, if it has one. */
function located(path: string, hashes: number, node = NO_NODE): PathView {
  const at = pathViewOf(path);
  at.node = node;
  let hash = 0;
  for (const byte of at.bytes) hash = Math.imul(hash, 31) + byte;
  at.hash = hash % hashes;
  return at;
}

describe('znodes in flight', () => {
  it.each([1, 7, 1 << 30])('are found by their paths, with %i hashes', (hashes) => {
    const number = fc.nat(hashes === 1 ? 60 : 1_200);
    const step = fc.record({ add: fc.array(number, { maxLength: 300 }), keep: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const znodes = new ZnodesInFlight();
        const expected = new Map<string, ZnodeInFlight>();
        for (const { add, keep } of steps) {
          for (const one of add) {
            // Some are longer than the memory that an entry begins with.
            const path = `/${'long-'.repeat(one % 17)}${one}`;
            if (expected.has(path)) continue;
            const znode = znodes.add(located(path, hashes));
            znode.version = one;
            expected.set(path, znode);
          }
          for (const [path, znode] of expected) {
            if (znode.version % 10 <= keep) continue;
            znodes.remove(znode);
            expected.delete(path);
          }
          expect(znodes.size).toBe(expected.size);
          for (const [path, znode] of expected) {
            expect(znodes.find(located(path, hashes))).toBe(znode);
          }
          expect(znodes.find(located('/never', hashes))).toBe(null);
          expect(znodes.find(located('/', hashes))).toBe(null);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('are found no longer once they are removed, though they are used again', () => {
    const znodes = new ZnodesInFlight();
    const first = znodes.add(located('/first', 1));
    first.childrenOf = new Map([[1, 1]]);
    znodes.remove(first);
    expect(first.isUsed).toBe(false);
    const second = znodes.add(located('/second', 1));
    expect(second).toBe(first);
    expect(second).toMatchObject({ isUsed: true, changes: 0, children: 0, childrenOf: null });
    expect(znodes.find(located('/first', 1))).toBe(null);
  });

  it('are found by their nodes in the tree, which may have other paths later', () => {
    const znodes = new ZnodesInFlight();
    const seven = znodes.add(located('/seven', 1, 7));
    const absent = znodes.add(located('/absent', 1));
    expect(znodes.find(located('/seven', 1, 7))).toBe(seven);
    expect(znodes.find(located('/other', 1, 8))).toBe(null);
    znodes.keepPath(seven, located('/seven', 1, 7));
    // Deleted and created anew in the tree, while another znode got its node, and the same hash.
    expect(znodes.find(located('/seven', 1, 9))).toBe(seven);
    expect(znodes.find(located('/seven', 1))).toBe(seven);
    expect(znodes.find(located('/other', 1, 7))).toBe(null);
    expect(znodes.find(located('/absent', 1, 7))).toBe(absent);
  });

  it('are not removed while children of them are counted', () => {
    const znodes = new ZnodesInFlight();
    const parent = znodes.add(located('/parent', 1));
    parent.children = 1;
    expect(() => znodes.remove(parent)).toThrow('1 children are left over');
  });
});
