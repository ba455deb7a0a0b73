import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareSequences, formatSequence, inLine, placeOf, sequenceOf } from './sequence.js';

const MARKERS = ['lock-', '__lock__'] as const;

describe('the number of a sequential name', () => {
  it('is told apart from the dash of its marker', () => {
    expect(sequenceOf('_c_1e2b-lock-0000000005', 'lock-')).toBe(5);
    expect(sequenceOf('_c_1e2b-lock--000000005', 'lock-')).toBe(-5);
    expect(sequenceOf('_c_1e2b-lock--2147483648', 'lock-')).toBe(-(2 ** 31));
    expect(sequenceOf('_c_1e2b-lock-2147483647', 'lock-')).toBe(2 ** 31 - 1);
  });

  it('is no number when it is too short, too long, no int32 or followed by something', () => {
    for (const tail of ['', '5', '000000005', '00000000005', '2147483648', '0000000005x', '-5']) {
      expect(sequenceOf(`a-lock-${tail}`, 'lock-')).toBeNull();
    }
  });

  it('is read back from what the server writes, for every int32', () => {
    const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(
        int32,
        (number) => sequenceOf(`x-lock-${formatSequence(number)}`, 'lock-') === number,
      ),
    );
  });
});

describe('the order of a line', () => {
  it('goes on over the wrap of the counter', () => {
    expect(compareSequences(2 ** 31 - 1, -(2 ** 31))).toBeLessThan(0);
    expect(compareSequences(-(2 ** 31), 2 ** 31 - 1)).toBeGreaterThan(0);
    expect(compareSequences(-1, 0)).toBeLessThan(0);
  });

  it('is that of creation wherever the counter starts, gaps included', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
        fc.array(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 30 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 1_000 })),
        (start, gaps, shuffle) => {
          let next = start;
          const created = gaps.map((gap) => {
            next = (next + gap) | 0;
            return `_c_x-lock-${formatSequence(next)}`;
          });
          const shuffled = created
            .map((name) => ({ name, key: shuffle.next().value ?? 0 }))
            .sort((left, right) => left.key - right.key)
            .map(({ name }) => name);
          expect(inLine(shuffled, MARKERS).map(({ name }) => name)).toEqual(created);
        },
      ),
    );
  });

  it('has contenders of other implementations at their places and nobody else', () => {
    const names = [
      '_c_b-lock-0000000002',
      'notes',
      '5f0c__lock__0000000001',
      'lease_holder',
      '_c_a-lock-0000000000',
    ];
    expect(inLine(names, MARKERS).map(({ name }) => name)).toEqual([
      '_c_a-lock-0000000000',
      '5f0c__lock__0000000001',
      '_c_b-lock-0000000002',
    ]);
  });

  it('takes the order of the markers where two have the same number', () => {
    const names = ['_c_b-__READ__0000000007', '_c_a-__WRIT__0000000007'];
    const line = inLine(names, ['__WRIT__', '__READ__']);
    expect(line.map(({ marker }) => marker)).toEqual(['__WRIT__', '__READ__']);
  });

  it('does not take a reader of kazoo for a writer', () => {
    expect(placeOf('5f0c__rlock__0000000001', ['__lock__'])).toBeNull();
  });
});
