/**
 * Tests what the cuts of a network leave, by following every connection that is open.
 */
import { expect, it } from 'vitest';
import { Random } from '../../simulation/random.js';
import type { Cut } from '../network.js';
import { between, bridge, halves, ring, some } from './victims.js';

const SIZES = [3, 5];
const SEEDS = Array.from({ length: 40 }, (_, seed) => new Random(seed));

it('halves are a majority and a minority of all members', () => {
  for (const { ids, random } of cases()) {
    const { majority, minority } = halves(ids, random);
    expect([...majority, ...minority].sort()).toEqual(ids);
    expect(majority.length).toBe(Math.floor(ids.length / 2) + 1);
  }
});

it('in a ring each member reaches a majority, and no two the same one', () => {
  for (const { ids, random } of cases()) {
    const cuts = ring(ids, random);
    expect(isSymmetric(cuts)).toBe(true);
    const seen = ids.map((id) => reachedBy(id, ids, cuts));
    for (const reached of seen) expect(reached.length).toBeGreaterThan(ids.length / 2);
    expect(new Set(seen.map((reached) => reached.join())).size).toBe(ids.length);
  }
});

it('only the member in the middle of a bridge reaches all, and the sides do not meet', () => {
  for (const { ids, random } of cases()) {
    const { middle, cuts } = bridge(ids, random);
    expect(isSymmetric(cuts)).toBe(true);
    for (const id of ids) {
      const reached = reachedBy(id, ids, cuts).length;
      if (id === middle) expect(reached).toBe(ids.length);
      else expect(reached).toBe((ids.length + 1) / 2);
    }
  }
});

it('some members are at least one and never all', () => {
  const sizes = new Set(cases().map(({ ids, random }) => some(ids, random).length));
  expect([...sizes].sort()).toEqual([1, 2, 3, 4]);
  for (const { ids, random } of cases()) {
    expect(some(ids, random).length).toBeLessThan(ids.length);
  }
});

it('nobody is cut off from itself', () => {
  expect(between([1], [2, 'clients'])).toEqual([
    { from: 1, to: 2 },
    { from: 2, to: 1 },
    { from: 1, to: 'clients' },
    { from: 'clients', to: 1 },
  ]);
});

function cases() {
  return SIZES.flatMap((size) => {
    const ids = Array.from({ length: size }, (_, index) => index + 1);
    return SEEDS.map((random) => ({ ids, random }));
  });
}

/** Returns the member and those that it reaches directly, because members do not forward. */
function reachedBy(id: number, ids: readonly number[], cuts: readonly Cut[]): number[] {
  return ids.filter((to) => !cuts.some((cut) => cut.from === id && cut.to === to));
}

function isSymmetric(cuts: readonly Cut[]): boolean {
  return cuts.every((cut) => cuts.some(({ from, to }) => from === cut.to && to === cut.from));
}
