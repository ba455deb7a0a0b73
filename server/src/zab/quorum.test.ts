/** Compares the arithmetic with a plain count. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { majorityOf, quorumValue } from './quorum.js';

describe('a majority', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
    [7, 4],
  ])('of %i voters is %i', (voters, majority) => {
    expect(majorityOf(voters)).toBe(majority);
  });

  it('always meets every other one', () => {
    for (let voters = 1; voters <= 9; voters += 1) {
      expect(2 * majorityOf(voters)).toBeGreaterThan(voters);
    }
  });
});

describe('the value of a quorum', () => {
  it('is the highest that a majority of all voters has reached, reported or not', () => {
    const anyVoters = fc.integer({ min: 1, max: 7 });
    fc.assert(
      fc.property(anyVoters, fc.array(fc.nat(20), { maxLength: 7 }), (voters, reported) => {
        const values = reported.slice(0, voters);
        const reached = values.filter(
          (value) => values.filter((other) => other >= value).length * 2 > voters,
        );
        expect(quorumValue(values, voters)).toBe(Math.max(Number.NEGATIVE_INFINITY, ...reached));
      }),
    );
  });
});
