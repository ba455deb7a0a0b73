/** What a leader measures of its proposals, by marks for all of a turn. */
import { expect, it } from 'vitest';
import { Durations } from '../measures/summary.js';
import { MARKS_MAX, ProposalTimes } from './counters.js';

function measured() {
  const acks = new Durations();
  const applied = new Durations();
  return { acks, applied, times: new ProposalTimes(acks, applied) };
}

it('each proposal of a turn counts, from the turn to its quorum and to its being applied', () => {
  const { acks, applied, times } = measured();
  times.onProposed(3, 3, 100);
  times.onProposed(4, 1, 110);
  times.onCommitted(2, 115);
  expect(acks.count, 'a part of what was proposed together decides nothing').toBe(0);
  times.onCommitted(4, 120);
  expect([acks.count, acks.max, acks.min]).toEqual([4, 20, 10]);
  times.onApplied(3, 125);
  expect([applied.count, applied.max]).toEqual([3, 25]);
});

it('what is applied is committed, though nobody told of it: a standalone server', () => {
  const { acks, applied, times } = measured();
  times.onProposed(1, 1, 0);
  times.onApplied(1, 7);
  expect([acks.max, applied.max]).toEqual([7, 7]);
});

it('a term that has ended is measured no more', () => {
  const { acks, applied, times } = measured();
  times.onProposed(1, 1, 0);
  times.clear();
  times.onApplied(1, 7);
  expect([acks.count, applied.count]).toEqual([0, 0]);
});

it('keeps so many marks and no more while no quorum answers', () => {
  const { acks, times } = measured();
  for (let zxid = 1; zxid <= MARKS_MAX + 5; zxid++) times.onProposed(zxid, 1, 0);
  times.onCommitted(MARKS_MAX + 5, 1);
  expect(acks.count).toBe(MARKS_MAX);
});
