/** Numbers for choices that clients must not foresee. */
import { expect, it } from 'vitest';
import { KeyedRandom } from './keyed-random.js';
import { KNOWN_PATH_KEY, pathKeyOf } from './path-hash.js';

it('draws each number about as often as others, below the limit alone', () => {
  const random = new KeyedRandom(KNOWN_PATH_KEY);
  const counts = Array.from({ length: 16 }, () => 0);
  for (let count = 0; count < 16_000; count++) {
    const drawn = random.below(16);
    counts[drawn] = (counts[drawn] ?? Number.NaN) + 1;
  }
  expect(counts.length).toBe(16);
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(200);
});

it('draws other numbers with another key, and the same ones with the same', () => {
  const drawn = (key: typeof KNOWN_PATH_KEY) => {
    const random = new KeyedRandom(key);
    return Array.from({ length: 20 }, () => random.below(1_000_000));
  };
  const other = pathKeyOf(Uint8Array.from([7, 1, 9, 200, 3, 5, 250, 99]));
  expect(drawn(KNOWN_PATH_KEY)).toEqual(drawn(KNOWN_PATH_KEY));
  const [one, two] = [drawn(KNOWN_PATH_KEY), drawn(other)];
  expect(one.filter((number, index) => number === two[index])).toEqual([]);
});
