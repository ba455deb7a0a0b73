/** The figures of the hottest paths and clients in words. */
import { expect, it } from 'vitest';
import { rateText, totalsText } from './hot.js';

it('rates have a decimal only where they are small', () => {
  expect([null, 0, 0.04, 9.94, 9.96, 12_345.6].map(rateText)).toEqual([
    ...['-', '0', '0.0', '9.9', '10', '12\u202f346'],
  ]);
});

it('totals are those of the members that answer, and say who did not', () => {
  const one = { id: 1, answers: true, spanMs: 5_000, readsPerSecond: 20, writesPerSecond: 0.5 };
  const two = { ...one, id: 2, readsPerSecond: 1 };
  expect(totalsText({ members: [one, two] })).toBe(
    '21 reads/s and 1.0 writes/s in the last seconds.',
  );
  expect(totalsText({ members: [one, { id: 2, answers: false }] })).toContain('without 1 that');
  expect(totalsText({ members: [{ ...one, spanMs: 0 }] })).toContain('just begun to watch');
});
