import { expect, it } from 'vitest';
import { testSeed } from './test-seed.js';

it('is the same in every run unless the environment names another', () => {
  expect(testSeed(undefined)).toBe(testSeed(''));
  expect(testSeed('4294967295')).toBe(4_294_967_295);
});

it.each(['4294967296', '-1', '1.5', 'one'])('refuses %s, which is not a seed', (given) => {
  expect(() => testSeed(given)).toThrow(given);
});
