import { expect, it } from 'vitest';
import { emptyText, isFound, type Session, sessionIdIn, sorted } from './session.js';

const of = (session: string, more: Partial<Session> = {}): Session => ({
  session,
  timeoutMs: 6000,
  ephemerals: 0,
  member: 1,
  address: '10.0.0.1:5',
  ...more,
});

it('sessions are ordered by number, and what is not told is last', () => {
  const all = [of('0xa0'), of('0x9'), of('0x10', { ephemerals: null })];
  const ids = (column: 'session' | 'owns', isDescending: boolean) =>
    sorted(all, { column, isDescending }).map(({ session }) => session);
  expect(ids('session', false)).toEqual(['0x9', '0x10', '0xa0']);
  expect(ids('session', true)).toEqual(['0xa0', '0x10', '0x9']);
  expect(ids('owns', true).at(-1)).toBe('0x10');
  expect(ids('owns', false).at(-1)).toBe('0x10');
});

it('a session is found by its id, its address and its member', () => {
  const one = of('0x10001');
  for (const text of ['', ' 0X1000', '10.0.0.1', 'member 1']) expect(isFound(one, text)).toBe(true);
  expect(isFound(one, '10.0.0.2')).toBe(false);
  expect(isFound(of('0x1', { address: null }), 'not connected')).toBe(true);
});

it('a whole id is told from other text', () => {
  expect(sessionIdIn(' 0x0010001ABC ')).toBe('0x10001abc');
  expect(sessionIdIn('10.0.0.1')).toBe(null);
  expect(sessionIdIn('abc')).toBe(null);
});

it('a list without sessions is not said to be one that a filter has emptied', () => {
  expect(emptyText(false, 0)).toBe('Asking the members …');
  expect(emptyText(true, 0)).toBe('There is no session.');
  expect(emptyText(true, 7)).toBe('No session matches the filter.');
});
