import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinPath, nameOf, parentOf, validatePath } from './paths.js';

/** Only the synchronous overload: an asynchronous property does not compile. */
const holds: <T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>) => void = fc.assert;

const plain = { sequential: false };
const sequential = { sequential: true };

describe('validatePath', () => {
  it.each([
    '/',
    '/a',
    '/a/b',
    '/.a',
    '/..a',
    '/a.',
    '/...',
    '/a b',
    '/é',
    '/\u00a0',
    '/\ud7ff',
    '/\uf900',
    '/\uffef',
  ])('accepts %j', (path) => {
    expect(validatePath(path, plain)).toBeNull();
  });

  it.each([
    '',
    'a',
    '//',
    '/a/',
    '/a//b',
    '/.',
    '/..',
    '/a/./b',
    '/a/../b',
    '/a/..',
    '/\0',
    '/a\u0001',
    '/\u001f/b',
    '/\u007f',
    '/\u009f',
    '/\ud800',
    '/😀',
    '/\uf8ff',
    '/\ufff0',
    '/\uffff',
  ])('refuses %j', (path) => {
    expect(validatePath(path, plain)).not.toBeNull();
  });

  it('accepts a trailing slash, and a last dot, only while a suffix is to come', () => {
    for (const path of ['/', '/q/', '/q/.']) expect(validatePath(path, sequential)).toBeNull();
    for (const path of ['', 'q/', '/q//', '/./']) {
      expect(validatePath(path, sequential)).not.toBeNull();
    }
  });

  it('never throws', () => {
    holds(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (path, isSequential) => {
        const reason = validatePath(path, { sequential: isSequential });
        expect(reason === null || reason.length > 0).toBe(true);
      }),
    );
  });
});

describe('the parts of a path', () => {
  it('are put together again', () => {
    const name = fc.stringMatching(/^[a-z]{1,5}$/);
    holds(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => {
        const path = `/${names.join('/')}`;
        expect(joinPath(parentOf(path), nameOf(path))).toBe(path);
      }),
    );
  });

  it('of the root and of what is no path are total', () => {
    expect(parentOf('/')).toBe('/');
    expect(parentOf('a')).toBe('/');
    expect(nameOf('/')).toBe('');
    expect(parentOf('/bad/')).toBe('/bad');
  });
});
