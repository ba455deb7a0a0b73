import { expect, it } from 'vitest';
import {
  createError,
  dataError,
  opError,
  pathError,
  sequenceError,
  watcherError,
} from './argument-check.js';

/** As from JavaScript, where nobody has looked at the types. */
function messageOf(check: (...given: never[]) => Error | null, ...given: unknown[]): string | null {
  const error: Error | null = Reflect.apply(check, null, given);
  return error === null ? null : error.message;
}

it('takes what is right', () => {
  expect(pathError('/a')).toBeNull();
  expect(pathError('/a/', true)).toBeNull();
  for (const data of ['', 'x', null, Buffer.alloc(1), new Uint8Array(1)]) {
    expect(dataError('/a', data)).toBeNull();
  }
  expect(createError('/a', {})).toBeNull();
  expect(createError('/a', { mode: 'persistentWithTtl', ttlMs: 1 })).toBeNull();
  expect(watcherError('/a', () => undefined)).toBeNull();
  expect(opError({ kind: 'create', path: '/a/', mode: 'ephemeralSequential' })).toBeNull();
  expect(opError({ kind: 'check', path: '/a' })).toBeNull();
});

it('says what is wrong with an argument, and with which', () => {
  expect(messageOf(pathError, undefined)).toContain('the path is undefined, not a string');
  expect(messageOf(pathError, 'a')).toBe(
    'an argument is invalid: a (the path does not start with /)',
  );
  expect(messageOf(dataError, '/a', { x: 1 })).toContain('/a (data is object, neither bytes');
  expect(messageOf(dataError, '/a', 5)).toContain('data is number');
  expect(messageOf(watcherError, '/a', true)).toContain('the watcher is boolean, not a function');
  expect(messageOf(createError, '/a', { mode: 'EPHEMERAL' })).toContain(
    'there is no mode "EPHEMERAL", but persistent, ephemeral, ',
  );
});

it('refuses a time to live that would be ignored, and a TTL znode without one', () => {
  expect(messageOf(createError, '/a', { ttlMs: 5 })).toContain('mode persistent has no ttlMs');
  expect(messageOf(createError, '/a', { mode: 'persistentWithTtl' })).toContain('needs ttlMs');
});

it('refuses a number that no sequential znode has', () => {
  expect([0, 2 ** 31 - 2].map((number) => sequenceError('/a', number))).toEqual([null, null]);
  for (const number of [-1, 0.5, Number.NaN, 2 ** 31 - 1, '5', undefined]) {
    expect(messageOf(sequenceError, '/a', number)).toContain(`the number is ${number}, not`);
  }
});

it('looks at each part of a transaction', () => {
  expect(messageOf(opError, { kind: 'set', path: '/a' })).toContain('there is no operation "set"');
  expect(messageOf(opError, { kind: 'setData', path: '/a' })).toContain('data is undefined');
  expect(messageOf(opError, { kind: 'delete', path: 'a' })).toContain('does not start with /');
  expect(messageOf(opError, { kind: 'create', path: '/a', ttlMs: 1 })).toContain('has no ttlMs');
});
