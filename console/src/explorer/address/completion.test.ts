import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commonBeginning, justBefore, splitTyped } from './completion.js';
import { withVisit } from './places.js';

it('finds a place right before every name that begins as typed', () => {
  const letters = fc.string({ minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(letters, letters, letters, (begin, end, other) => {
      const before = justBefore(begin);
      expect(before < begin && before < begin + end).toBe(true);
      // What is sorted in between is looked at and left out, so it must be little.
      if (before !== '' && other < begin && other.length <= begin.length) {
        expect(other <= before || other.startsWith(begin.slice(0, -1))).toBe(true);
      }
    }),
  );
});

it('splits what is typed into a directory and the beginning of a name', () => {
  expect(splitTyped('/a/b')).toEqual({ directory: '/a', begin: 'b' });
  expect(splitTyped('/a')).toEqual({ directory: '/', begin: 'a' });
  expect(splitTyped('/a/')).toEqual({ directory: '/a', begin: '' });
  expect(splitTyped('')).toEqual({ directory: '/', begin: '' });
});

it('completes to what all have in common', () => {
  expect(commonBeginning(['/app/a1', '/app/a2'])).toBe('/app/a');
  expect(commonBeginning([])).toBe('');
});

it('remembers the newest places, each once', () => {
  expect(withVisit(['/b', '/a'], '/a')).toEqual(['/a', '/b']);
});
