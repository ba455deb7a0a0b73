import { describe, expect, it } from 'vitest';
import { IDENTITY_BYTES_MAX } from '../pipeline/identities.js';
import { derivedLimits, firstPartsOf } from './member-options.js';

const USUAL = { frameBytesMax: 1_048_575, members: 3, inputBytesMax: 256 << 20 };

describe('limits that follow from others', () => {
  it('hold whatever the largest client frame becomes, for every configuration', () => {
    for (const frameBytesMax of [1024, 1_048_575, 32 << 20]) {
      for (const members of [1, 3, 5, 255]) {
        const limits = derivedLimits({ ...USUAL, frameBytesMax, members });
        expect(limits.peerFrameBytesMax).toBeGreaterThan(2 * frameBytesMax);
        // What was gathered, and one more request with all that it may take along.
        const largest = (1 << 20) + frameBytesMax + IDENTITY_BYTES_MAX;
        expect(limits.peerFrameBytesMax).toBeGreaterThan(largest);
        expect(limits.peerQueueBytesMax).toBeGreaterThan(2 * limits.peerFrameBytesMax - 1);
        const inFlight =
          members * (limits.outstandingBytesMax + frameBytesMax + IDENTITY_BYTES_MAX);
        expect(limits.peerQueueBytesMax).toBeGreaterThan(2 * inFlight - 1);
        expect(limits.outstandingBytesMax).toBeLessThanOrEqual(16 << 20);
      }
    }
  });

  it('share the budget of input between what is taken in and what is not yet', () => {
    for (const members of [1, 3, 5]) {
      const { outstandingBytesMax, heldInputBytesMax } = derivedLimits({ ...USUAL, members });
      expect(outstandingBytesMax + heldInputBytesMax).toBe(USUAL.inputBytesMax);
    }
    const small = derivedLimits({ ...USUAL, members: 1, inputBytesMax: 15_000_000 });
    expect(small.heldInputBytesMax).toBe(7_500_000);
  });

  it('keep as many proposals in memory as tuning says', () => {
    for (const windowBytes of [undefined, 64 << 10, 64 << 20]) {
      const { windowBytesMax } = derivedLimits({ ...USUAL, windowBytes });
      expect(windowBytesMax).toBe(windowBytes ?? 1 << 20);
    }
  });

  it('give each member another part of the way to its first checkpoint, one the whole', () => {
    const members = [{ id: 7 }, { id: 1 }, { id: 3 }];
    const parts = members.map(({ id }) => firstPartsOf(members, id));
    expect(parts.map(({ checkpoint }) => checkpoint)).toEqual([1, 1 / 3, 2 / 3]);
    expect(parts.map(({ segment }) => segment)).toEqual([2.5 / 3, 0.5 / 3, 0.5]);
    expect(firstPartsOf([{ id: 5 }], 5)).toEqual({ checkpoint: 1, segment: 0.5 });
  });

  it('are the usual ones for the usual configuration', () => {
    expect(derivedLimits(USUAL)).toMatchObject({
      peerFrameBytesMax: 32 << 20,
      outstandingBytesMax: 4 << 20,
    });
  });
});
