/** The summary does not look better than the rounds: small rounds are made by hand. */
import { describe, expect, it } from 'vitest';
import { inGroupsOf, median, ratioOf, slopeOf, summarize } from './statistics.js';

describe('several rounds', () => {
  it('are summarized by their median, with the lowest and the highest', () => {
    expect(summarize([10, 30, 20])).toEqual({ median: 20, lowest: 10, highest: 30, runs: 3 });
    expect(summarize([])).toBeNull();
  });

  it('give the ratio of medians, and its spread from the ratio of each round', () => {
    const ratio = ratioOf([10, 30, 20], [10, 10, 5], 'higher');
    expect(ratio).toEqual({ ofMedians: 2, lowest: 1, highest: 4 });
  });

  it('give a ratio above 1 to the better system, also where less is better', () => {
    expect(ratioOf([5], [20], 'lower')).toEqual({ ofMedians: 4, lowest: 4, highest: 4 });
    expect(ratioOf([20], [5], 'lower')?.ofMedians).toBe(0.25);
  });

  it('have no ratio when one side was not measured', () => {
    expect(ratioOf([1], [], 'higher')).toBeNull();
    expect(ratioOf([], [1], 'higher')).toBeNull();
  });

  it('are paired by their number, whichever rounds failed on either side', () => {
    const ratio = ratioOf([Number.NaN, 30, 40], [10, 10, Number.NaN], 'higher');
    expect(ratio).toEqual({ ofMedians: 3.5, lowest: 3, highest: 3 });
    expect(summarize([Number.NaN, 4])).toEqual({ median: 4, lowest: 4, highest: 4, runs: 1 });
    expect(ratioOf([Number.NaN], [1], 'higher')).toBeNull();
  });

  it('have the mean of the middle two as the median of an even number', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });
});

describe('a series', () => {
  it('has the slope of the line through it', () => {
    expect(slopeOf([5, 7, 9, 11])).toBe(2);
    expect(slopeOf([4, 4, 4])).toBe(0);
    expect(slopeOf([7])).toBe(0);
  });

  it('is added up in whole groups, without the incomplete last one', () => {
    expect(inGroupsOf(2, [1, 2, 3, 4, 5])).toEqual([3, 7]);
  });
});
