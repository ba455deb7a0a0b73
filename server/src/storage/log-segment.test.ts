/** Goal: the records of a write hold every proposal once, in order, within their bound. */
import { ProposalBatch } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { proposalsAfter, proposalsIn } from '../simulated/storage/toy-state.js';
import { DamagedError } from './errors.js';
import { BatchJoiner, recordsOf, storedBatch } from './log-segment.js';

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

it('batches are joined until they are large enough, and the rest at the end', () => {
  const whole = proposalsAfter(0, { epoch: 1, counter: 1, count: 50 });
  const single = whole.part(0, whole.first);
  const bytesMax = 3 * (single?.bytes.length ?? 0);
  const joiner = new BatchJoiner(bytesMax);
  const joined: ProposalBatch[] = [];
  for (const { zxid, previous } of whole) {
    const batch = joiner.add(whole.part(previous, zxid) ?? whole);
    if (batch !== null) joined.push(batch);
  }
  for (const { bytes } of joined) expect(bytes.length).toBeGreaterThanOrEqual(bytesMax);
  expect(joined.length).toBeGreaterThan(10);
  const rest = joiner.take();
  expect(proposalsIn(rest === null ? joined : [...joined, rest])).toEqual([...whole]);
  expect(joiner.take()).toBe(null);
});

it('what is no batch is damage, which says where it is', () => {
  const { bytes } = proposalsAfter(0, { epoch: 1, counter: 1, count: 2 });
  expect(storedBatch('the record', bytes).count).toBe(2);
  const cut = () => storedBatch('the record', bytes.subarray(0, bytes.length - 1));
  expect(cut).toThrow(DamagedError);
  expect(cut).toThrow('the record is not understood: a batch ends in a body');
});
