/** Tests that bytes have the same hash however they are read. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { Hasher } from './hash.js';

function hashed(feed: (hasher: Hasher) => void): readonly [number, number] {
  const hasher = new Hasher();
  hasher.reset(7);
  feed(hasher);
  hasher.finish();
  return [hasher.low, hasher.high];
}

it('bytes count as little-endian words, the last filled up with zeros, and their number', () => {
  const memory = randomBytes(3000);
  for (const start of [0, 1, 2, 3, 17]) {
    for (const length of [0, 1, 3, 4, 5, 511, 512, 513, 514, 515, 516, 2048, 2900]) {
      const bytes = memory.subarray(start, start + length);
      const filled = Buffer.concat([bytes, Buffer.alloc(3)]);
      const expected = hashed((hasher) => {
        for (let at = 0; at < length; at += 4) hasher.word(filled.readInt32LE(at));
        hasher.word(length);
      });
      const what = `${length} bytes from ${start} on`;
      expect(
        hashed((hasher) => hasher.bytes(bytes)),
        what,
      ).toEqual(expected);
      const within = hashed((hasher) => hasher.bytes(memory, start, start + length));
      expect(within, what).toEqual(expected);
    }
  }
});
