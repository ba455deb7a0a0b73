/** Expressions of users are stopped on texts that make them backtrack. */
import { expect, it } from 'vitest';
import { StoppablePattern } from './stoppable-pattern.js';

it('finds the texts that contain the pattern, up to a number', () => {
  const pattern = new StoppablePattern('b+', 'i');
  expect(pattern.test('aBc', '/a')).toBe(true);
  expect(pattern.test('ac', '/a')).toBe(false);
  expect(pattern.matching(['b', 'a', 'ab', 'b'], '/a', 2)).toEqual([0, 2]);
});

it('stops a search that backtracks, and names the pattern and the path', () => {
  const pattern = new StoppablePattern('(a+)+$', '');
  const search = () => pattern.test(`${'a'.repeat(200)}b`, '/hostile');
  expect(search).toThrow(/The search for \(a\+\)\+\$ at \/hostile was stopped/);
  expect(pattern.test('aaa', '/good')).toBe(true);
});

it('refuses a pattern that is too long', () => {
  expect(() => new StoppablePattern('a'.repeat(1001), '')).toThrow('at most 1000 characters');
});
