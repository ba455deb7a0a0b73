/** Goal: the records of a write hold every proposal once, in order, within their bound. */
import { ProposalBatch } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { proposalsIn } from '../simulated/storage/toy-state.js';
import { recordsOf } from './log-segment.js';

/** Consecutive batches; each number is the length of a proposal's body. */
function batchesOf(batches: readonly (readonly number[])[]): readonly ProposalBatch[] {
  let previous = 0;
  return batches.map((bodies) => {
    return ProposalBatch.of(
      bodies.map((length) => ({ previous, zxid: ++previous, body: Buffer.alloc(length) })),
    );
  });
}

const bytesIn = (record: readonly ProposalBatch[]) =>
  record.reduce((sum, { bytes }) => sum + bytes.length, 0);

it('records hold every proposal once, in order, and exceed the bound only for a single one', () => {
  const bodies = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(bodies), fc.integer({ min: 1, max: 200 }), (lengths, bytesMax) => {
      const records = recordsOf(batchesOf(lengths), bytesMax);
      const found = records.flatMap(proposalsIn).map(({ zxid, body }) => [zxid, body.length]);
      expect(found).toEqual(lengths.flat().map((length, index) => [index + 1, length]));
      for (const record of records) {
        const { length } = proposalsIn(record);
        expect(length).toBeGreaterThan(0);
        if (length > 1) expect(bytesIn(record)).toBeLessThanOrEqual(bytesMax);
      }
    }),
  );
});

it('a record takes what fits, so that there are not more of them than are needed', () => {
  const batches = batchesOf([[10], [10], [10, 10]]);
  const all = bytesIn(batches);
  expect(recordsOf(batches, all).length).toBe(1);
  expect(recordsOf(batches, all - 1).length).toBe(2);
});
