// Random creates come and go, compared with a plain list of them: each is found by parent and name,
// the newest by its parent, and no other. Hashes collide on purpose, and the arrays grow.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CREATED_NAME_BYTES_MAX, CreatesInFlight, type CreateTarget } from './creates-in-flight.js';
import { NONE } from './newest-by-hash.js';

interface Listed {
  readonly where: CreateTarget;
  readonly zxid: number;
}

function indexOf(parent: number, name: string, hashes: number): CreateTarget {
  const bytes = Buffer.from(`...${name}`);
  let hash = parent;
  for (const byte of bytes) hash = Math.imul(hash, 31) + byte;
  return { hash: hash % hashes, parent, bytes, nameStart: 3, pathEnd: bytes.length };
}

function check(creates: CreatesInFlight, list: readonly Listed[], parents: number): void {
  expect(creates.length).toBe(list.length);
  expect(creates.firstZxid).toBe(list[0]?.zxid ?? Number.POSITIVE_INFINITY);
  for (const { where, zxid } of list) {
    const found = creates.find(where);
    expect(creates.dataBytes(found)).toBe(zxid % 1000);
    expect(creates.acl(found)[0]?.perms).toBe(zxid % 32);
  }
  for (let parent = 0; parent < parents; parent++) {
    const newest = list.findLast(({ where }) => where.parent === parent);
    const found = creates.newestBelow(parent);
    if (newest === undefined) expect(found).toBe(NONE);
    else expect(creates.creates(found)).toBe(newest.zxid % 77);
    expect(creates.find(indexOf(parent, 'never', 4))).toBe(NONE);
  }
}

describe('creates in flight', () => {
  it.each([1, 3, 200])('are found by each of them below %i parents', (parents) => {
    const step = fc.record({ adds: fc.nat(400), shifts: fc.nat(400), hashes: fc.nat(2000) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const creates = new CreatesInFlight();
        const list: Listed[] = [];
        const hashes = (steps[0]?.hashes ?? 0) + 4;
        let zxid = 2 ** 40;
        for (const { adds, shifts } of steps) {
          for (let left = adds; left > 0; left--) {
            zxid += 1;
            const where = indexOf(zxid % parents, `k${zxid}`, hashes);
            const acl = [{ perms: zxid % 32, scheme: 'world', id: 'anyone' }];
            creates.add(where, { zxid, creates: zxid % 77, acl, dataBytes: zxid % 1000 });
            list.push({ where, zxid });
          }
          for (let left = Math.min(shifts, list.length); left > 0; left--) {
            const gone = list.shift();
            creates.shift();
            if (gone !== undefined) expect(creates.find(gone.where)).toBe(NONE);
          }
          check(creates, list, Math.min(parents, 50));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('have names of the longest length, and none that is longer', () => {
    const creates = new CreatesInFlight();
    const what = { creates: 1, acl: [], dataBytes: 0 };
    const longest = indexOf(1, 'n'.repeat(CREATED_NAME_BYTES_MAX), 4);
    const other = indexOf(1, `${'n'.repeat(CREATED_NAME_BYTES_MAX - 1)}m`, 4);
    creates.add({ ...longest, hash: 1 }, { zxid: 1, ...what });
    expect(creates.find({ ...other, hash: 1 })).toBe(NONE);
    expect(creates.find({ ...longest, pathEnd: longest.pathEnd - 1, hash: 1 })).toBe(NONE);
    expect(creates.find({ ...longest, hash: 1 })).not.toBe(NONE);
    const tooLong = indexOf(1, 'n'.repeat(CREATED_NAME_BYTES_MAX + 1), 4);
    expect(() => creates.add(tooLong, { zxid: 2, ...what })).toThrow('is short');
    creates.shift();
    expect(() => creates.shift()).toThrow('was in flight');
  });
});
