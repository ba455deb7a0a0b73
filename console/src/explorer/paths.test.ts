import fc from 'fast-check';
import { expect, it } from 'vitest';
import { childOf, isWithin, lineOf, nameOf, parentOf, rebased, shown, wrongPath } from './paths.js';

const name = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/^\.\.?$|\//.test(text));
const path = fc.array(name, { maxLength: 5 }).map((names) => `/${names.join('/')}`);

it('takes every path apart and together again', () => {
  fc.assert(
    fc.property(path, name, (parent, child) => {
      const whole = childOf(parent, child);
      expect([parentOf(whole), nameOf(whole)]).toEqual([parent, child]);
      expect(wrongPath(whole)).toBeNull();
      expect(lineOf(whole).at(-2)).toBe(parent);
      expect(isWithin(parent, whole)).toBe(true);
      expect(rebased(whole, parent, '/to')).toBe(`/to/${child}`);
      expect(rebased(rebased(whole, parent, '/'), '/', parent)).toBe(whole);
    }),
  );
});

it('says why a path is none', () => {
  const wrong = ['', 'a', '/a/', '//', '/a//b', '/a/./b', '/..'];
  expect(wrong.filter((one) => wrongPath(one) === null)).toEqual([]);
});

it('knows a neighbour whose name only begins alike', () => {
  expect([isWithin('/a', '/ab'), isWithin('/a', '/a'), isWithin('/', '/a')]).toEqual([
    ...[false, true, true],
  ]);
});

it('shows what would hide in a name or turn its direction', () => {
  expect(shown('a\nb\u202ec\u0000')).toBe('a\\u{a}b\\u{202e}c\\u{0}');
  expect(shown('été 日本 <b>')).toBe('été 日本 <b>');
  expect(shown('\u{e0041}')).toBe('\\u{e0041}');
});
