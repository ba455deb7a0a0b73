/** Patterns for names, compared with a naive matcher on random texts of few letters. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Glob } from './glob.js';

function naive(pattern: string, text: string): boolean {
  const source = pattern.replaceAll('*', '[^]*').replaceAll('?', '[^]');
  return new RegExp(`^${source}$`).test(text);
}

it('matches as a regular expression does', () => {
  const letters = fc.constantFrom('a', 'b', '*', '?');
  const patterns = fc.string({ unit: letters, maxLength: 8 });
  const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      expect(Glob.of(pattern)?.matches(text)).toBe(naive(pattern, text));
    }),
    { numRuns: 2000 },
  );
});

it('takes letters of regular expressions as they are', () => {
  expect(Glob.of('/a.c/*')?.matches('/a.c/(d+)')).toBe(true);
  expect(Glob.of('/a.c/*')?.matches('/abc/d')).toBe(false);
});

it('has a bound for what takes long', () => {
  expect(Glob.of('x'.repeat(256))).toBeDefined();
  expect(Glob.of('x'.repeat(257))).toBeUndefined();
  expect(Glob.of(`*${'?'.repeat(64)}*`)).toBeDefined();
  expect(Glob.of(`*${'?'.repeat(65)}*`)).toBeUndefined();
});
