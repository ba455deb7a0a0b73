// Random changes come and go, compared with a plain list of them: the newest of each znode is
// found, and no other. There are few znodes and many, so that entries are overwritten and the
// arrays grow.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DataChange, DataInFlight } from './data-in-flight.js';
import { NONE } from './newest-by-hash.js';

interface Step {
  readonly adds: number;
  readonly shifts: number;
}

const steps = fc.array(
  fc.record({ adds: fc.integer({ min: 0, max: 400 }), shifts: fc.integer({ min: 0, max: 400 }) }),
  { minLength: 1, maxLength: 12 },
);

function check(data: DataInFlight, list: readonly DataChange[], nodes: number): void {
  expect(data.length).toBe(list.length);
  expect(data.firstZxid).toBe(list[0]?.zxid ?? Number.POSITIVE_INFINITY);
  for (let node = 0; node < nodes; node++) {
    const newest = list.findLast((change) => change.node === node);
    const found = data.find(node);
    if (newest === undefined) expect(found).toBe(NONE);
    else expect([data.version(found), data.dataBytes(found)]).toEqual([newest.version, node + 7]);
  }
}

describe('data in flight', () => {
  it.each([1, 3, 40, 1000])('are found by each of %i znodes, the newest only', (nodes) => {
    fc.assert(
      fc.property(steps, fc.infiniteStream(fc.nat(nodes - 1)), (all: readonly Step[], node) => {
        const data = new DataInFlight();
        const list: DataChange[] = [];
        let zxid = 2 ** 40;
        for (const { adds, shifts } of all) {
          for (let left = adds; left > 0; left--) {
            const at = node.next().value ?? 0;
            const change = { zxid: ++zxid, node: at, version: zxid % 1000, dataBytes: at + 7 };
            data.add(change);
            list.push(change);
          }
          for (let left = Math.min(shifts, list.length); left > 0; left--) {
            data.shift();
            list.shift();
          }
          check(data, list, Math.min(nodes, 50));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is not asked for what is not there', () => {
    const data = new DataInFlight();
    expect(() => data.shift()).toThrow('was in flight');
    // The change of a path that is not in the tree.
    data.add({ zxid: 1, node: 5, version: 1, dataBytes: 1 });
    expect(data.find(NONE)).toBe(NONE);
  });
});
