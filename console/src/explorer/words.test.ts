import { expect, it } from 'vitest';
import { ageInWords, lengthInWords, sizeInWords } from './words.js';

it('says sizes with as many digits as matter', () => {
  expect([0, 999, 1_000, 1_250, 99_960, 999_600, 1_000_000].map(sizeInWords)).toEqual([
    ...['0 B', '999 B', '1.0 KB', '1.3 KB', '100 KB', '1.0 MB', '1.0 MB'],
  ]);
});

it('says ages in one unit', () => {
  const now = 1_000_000_000_000;
  expect(ageInWords(now - 500, now)).toBe('now');
  expect(ageInWords(now - 61_000, now)).toBe('1 minute ago');
  expect(ageInWords(now - 3 * 86_400_000, now)).toBe('3 days ago');
  expect(ageInWords(now + 7_200_000, now)).toBe('in 2 hours');
  expect(lengthInWords(86_400_000 * 800)).toBe('2 years');
});
