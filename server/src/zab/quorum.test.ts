/** Compares the arithmetic with a plain count. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { majorityOf, Quorums, quorumValue } from './quorum.js';

describe('a majority', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
    [7, 4],
  ])('of %i members is %i', (members, majority) => {
    expect(majorityOf(members)).toBe(majority);
  });

  it('always meets every other one', () => {
    for (let members = 1; members <= 9; members += 1) {
      expect(2 * majorityOf(members)).toBeGreaterThan(members);
    }
  });
});

describe('the value of a quorum', () => {
  it('is the highest that a majority of all members has reached, reported or not', () => {
    const anyMembers = fc.integer({ min: 1, max: 7 });
    fc.assert(
      fc.property(anyMembers, fc.array(fc.nat(20), { maxLength: 7 }), (members, reported) => {
        const values = reported.slice(0, members);
        const reached = values.filter(
          (value) => values.filter((other) => other >= value).length * 2 > members,
        );
        expect(quorumValue(values, members)).toBe(Math.max(Number.NEGATIVE_INFINITY, ...reached));
      }),
    );
  });
});

describe('quorums while the list of members is being changed', () => {
  const list = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 });
  const some = fc.uniqueArray(fc.integer({ min: 1, max: 6 }));
  const hasHalf = (of: readonly number[], here: readonly number[]) =>
    of.filter((id) => here.includes(id)).length * 2 > of.length;

  it('have a majority of every list, whichever member counts', () => {
    fc.assert(
      fc.property(list, fc.array(list, { maxLength: 2 }), list, some, (now, own, other, here) => {
        const quorums = new Quorums(now, own);
        quorums.include([other, other]);
        const all = [now, ...own, other];
        const expected = all.every((one) => hasHalf(one, here));
        expect(quorums.isQuorum((id) => here.includes(id))).toBe(expected);
        const isReached = quorums.value((id) => (here.includes(id) ? 7 : null)) === 7;
        expect(isReached).toBe(expected);
        quorums.settle();
        expect(quorums.isQuorum((id) => here.includes(id))).toBe(hasHalf(now, here));
      }),
    );
  });

  it('may elect with all members of the new list where too few of it have a vote', () => {
    const quorums = new Quorums([1, 2, 3], [[1]]);
    const isOne = (id: number) => id === 1;
    expect(quorums.mayElect(isOne, (id) => id < 3)).toBe(false);
    expect(quorums.mayElect(isOne, () => true)).toBe(true);
    expect(
      quorums.mayElect(
        (id) => id === 2,
        () => true,
      ),
    ).toBe(false);
    quorums.settle();
    expect(quorums.mayElect(isOne, () => true)).toBe(false);
  });

  it('may elect with all members of a former list that never had a majority with votes', () => {
    const quorums = new Quorums([1, 2, 3], [[1, 2]]);
    const hasVote = (id: number) => id !== 2;
    expect(quorums.mayElect(hasVote, () => true)).toBe(true);
    expect(quorums.mayElect(hasVote, (id) => id !== 2)).toBe(false);
    // Two of three disks are lost: new members do not make up for them.
    const lost = new Quorums([1, 2, 3, 4, 5], [[1, 2, 3]]);
    expect(
      lost.mayElect(
        (id) => id === 1,
        () => true,
      ),
    ).toBe(false);
  });

  it('count by what others serve with only as long as those are there', () => {
    const quorums = new Quorums([1, 2, 3, 4, 5]);
    const here = (id: number) => id >= 3;
    quorums.include([[1, 2, 3]]);
    expect(quorums.isQuorum(here)).toBe(false);
    quorums.include([]);
    expect([quorums.isQuorum(here), quorums.isChanging, quorums.lists.length]).toEqual([
      true,
      false,
      1,
    ]);
  });
});
