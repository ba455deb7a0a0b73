/**
 * The checkers of members accept the correct product: all of them watch real members in the
 * simulated world through elections, crashes, wipes, bit flips, SNAPs and truncations, drawn from
 * fixed seeds.
 */
import { describe, expect, it } from 'vitest';
import { MEMBER_CHECKERS } from './member-side.js';
import { turmoil } from './members/testing/turmoil.js';

const SEEDS = [1, 2, 3, 4, 5, 6];

describe('the checkers of members', () => {
  it.each(SEEDS)('accept what members do under the faults of seed %i', async (seed) => {
    const members = [3, 5, 3, 1, 2, 3][seed % 6] ?? 3;
    const options = { seed, members, rounds: 60, isLogTiny: seed % 2 === 0 };
    const { applied, faults } = await turmoil(options, MEMBER_CHECKERS);
    expect(applied).toBeGreaterThan(100);
    expect(faults.size).toBeGreaterThan(3);
  });
});
