/** Names of recipes, as the programs that make them write them, and names that only look so. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareParts, inOrder, type Part, partOf, recipeOf } from './recipe-names.js';

const GUID = '0d6c3d0a-1234-4321-9abc-0123456789ab';
const HEX = GUID.replaceAll('-', '');

it('knows the names of our client, Curator and kazoo', () => {
  const known: readonly (readonly [string, Part])[] = [
    [`_c_${GUID}-lock-0000000003`, 'lock'],
    ['lock-0000000003', 'lock'],
    [`${HEX}__lock__0000000003`, 'lock'],
    [`_c_${GUID}-__READ__0000000003`, 'read'],
    [`_c_${GUID}-__WRIT__0000000003`, 'write'],
    [`${HEX}__rlock__0000000003`, 'read'],
    [`_c_${GUID}-lease-0000000003`, 'lease'],
    [`_c_${GUID}-latch-0000000003`, 'candidate'],
    [`${GUID}-n_0000000003`, 'candidate'],
    ['queue-0000000003', 'entry'],
    ['qn-0000000003', 'entry'],
    ['entry-100-0000000003', 'entry'],
    ['queue-1000000050000000003', 'entry'],
    ['queue-|0000018C1A2B3C4D|0000000003', 'entry'],
  ];
  for (const [name, part] of known) {
    expect(partOf(name), name).toMatchObject({ part, sequence: 3 });
  }
  expect(partOf(GUID)).toMatchObject({ part: 'member' });
});

it('is not misled by other names', () => {
  for (const name of ['lock', 'lock-3', 'my-lock-0000000003', 'queue-', 'entry-1', '', 'ready2']) {
    expect(partOf(name), name).toBeNull();
  }
});

it('orders by rank, then by number, past the point where numbers wrap', () => {
  const order = (names: readonly string[]) =>
    names
      .map((name) => ({ name, part: partOf(name) }))
      .sort((a, b) => (a.part === null || b.part === null ? 0 : compareParts(a.part, b.part)))
      .map(({ name }) => name);
  expect(order(['entry-200-0000000001', 'entry-100-0000000002'])).toEqual([
    ...['entry-100-0000000002', 'entry-200-0000000001'],
  ]);
  const wrapped = ['lock--2147483648', 'lock-2147483647'];
  expect(order(wrapped)[0]).toBe('lock-2147483647');
  expect(recipeOf(new Set(['read', 'lock']))).toBe('read-write-lock');
});

it('sorts by numbers as it compares, equal ones in their order', () => {
  const near = fc.integer({ min: -(2 ** 30), max: 2 ** 30 - 1 });
  const part = fc.record({ offset: near, rank: fc.constantFrom(0, 100, 0x1_ffff_ffff) });
  fc.assert(
    fc.property(fc.array(part), fc.integer(), (parts, from) => {
      const all = parts.map(({ offset, rank }, index) => {
        return { part: 'entry' as const, sequence: (from + offset) | 0, rank, index };
      });
      expect(inOrder(all)).toEqual(all.toSorted(compareParts));
    }),
  );
});
