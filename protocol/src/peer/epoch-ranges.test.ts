/** The ranges are what a plain list of zxids says, however it came about. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutRanges, extendRanges, type GrowingRanges, holds } from './epoch-ranges.js';
import type { Zxid } from './proposal.js';
import { counterOf, epochOf, makeZxid } from './zxid.js';

const check: <T>(property: fc.IProperty<T>) => void = fc.assert;

/** Pieces of a log, in order: each a few counters in a row, of the same epoch or a later one. */
const pieces = fc.array(fc.record({ epochs: fc.nat(2), count: fc.integer({ min: 1, max: 4 }) }), {
  maxLength: 8,
});

interface Log {
  readonly ranges: GrowingRanges;
  readonly zxids: readonly Zxid[];
}

function logOf(list: readonly { readonly epochs: number; readonly count: number }[]): Log {
  const ranges: GrowingRanges = [];
  const zxids: Zxid[] = [];
  let last = makeZxid(1, 0);
  for (const { epochs, count } of list) {
    const epoch = epochOf(last) + epochs;
    const first = epochs === 0 ? counterOf(last) + 1 : 1;
    for (let counter = first; counter < first + count; counter++) {
      zxids.push(makeZxid(epoch, counter));
    }
    extendRanges(ranges, makeZxid(epoch, first), makeZxid(epoch, first + count - 1));
    last = zxids.at(-1) ?? last;
  }
  return { ranges, zxids };
}

function zxidsOf(ranges: GrowingRanges): readonly Zxid[] {
  return ranges.flatMap(({ epoch, first, last }) =>
    Array.from({ length: last - first + 1 }, (_, index) => makeZxid(epoch, first + index)),
  );
}

it('hold what they were extended by, one range for each epoch', () => {
  check(
    fc.property(pieces, (list) => {
      const { ranges, zxids } = logOf(list);
      expect(zxidsOf(ranges)).toEqual(zxids);
      expect(ranges.length).toBe(new Set(zxids.map(epochOf)).size);
    }),
  );
});

it('are cut after any zxid', () => {
  check(
    fc.property(pieces, fc.nat(40), (list, at) => {
      const { ranges, zxids } = logOf(list);
      const after = at === 0 ? 0 : (zxids[at % zxids.length] ?? 0);
      cutRanges(ranges, after);
      expect(zxidsOf(ranges)).toEqual(zxids.filter((zxid) => zxid <= after));
    }),
  );
});

it('hold their base, and no zxid between two of theirs', () => {
  check(
    fc.property(pieces, (list) => {
      const { ranges, zxids } = logOf(list);
      const summary = { base: makeZxid(1, 0), ranges };
      expect(holds(summary, summary.base)).toBe(true);
      for (let epoch = 1; epoch <= 20; epoch++) {
        for (let counter = 1; counter <= 40; counter++) {
          const zxid = makeZxid(epoch, counter);
          expect(holds(summary, zxid)).toBe(zxids.includes(zxid));
        }
      }
    }),
  );
});
