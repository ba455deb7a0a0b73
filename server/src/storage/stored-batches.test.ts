/** Goal: what is joined is what came, in pieces of some size; what is no batch is damage. */
import type { ProposalBatch } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { proposalsAfter, proposalsIn } from '../simulated/storage/toy-state.js';
import { DamagedError } from './errors.js';
import { BatchJoiner, storedBatch } from './stored-batches.js';

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
