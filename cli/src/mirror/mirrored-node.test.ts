// Tests how the number of the next sequential child is derived from a Stat.
import { expect, it } from 'vitest';
import { sequenceOf } from './mirrored-node.js';

/** As servers tell it: an integer of 32 bits. */
function statOf(creates: number, numChildren: number) {
  return {
    cversion: Number(BigInt.asIntN(32, 2n * BigInt(creates) - BigInt(numChildren))),
    numChildren,
  };
}

it.each([0, 1, 5, 2 ** 30 - 1, 2 ** 30, 2 ** 30 + 1, 2 ** 31 - 2, 2 ** 31 - 1])(
  'the number is the count of all creates: %i',
  (creates) => {
    for (const numChildren of [0, 1, 2, 1_000_000].filter((count) => count <= creates)) {
      expect(sequenceOf(statOf(creates, numChildren))).toBe(creates);
    }
  },
);
