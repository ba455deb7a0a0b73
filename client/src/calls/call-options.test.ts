/** One meaning of `timeoutMs` and one list of options, for operations, helpers and recipes. */
import { describe, expect, it } from 'vitest';
import { OptionError } from '../api/errors.js';
import * as library from '../index.js';
import { newWorld, turns } from '../testing/lock-world.js';
import { callOptionsError } from './call-options.js';

const NO_TIMES = [Number.NaN, -5, Number.POSITIVE_INFINITY, 2 ** 31, '5', null];

it.each(NO_TIMES)('%s is no time limit', (timeoutMs) => {
  expect(callOptionsError({ timeoutMs })).toBeInstanceOf(OptionError);
});

it('a time limit is from 0 to what a timer can wait', () => {
  for (const timeoutMs of [undefined, 0, 1, 0.5, 2 ** 31 - 1]) {
    expect(callOptionsError({ timeoutMs })).toBeNull();
  }
});

it.each([
  ['timeout', 'timeoutMs'],
  ['ephemeral', "mode: 'ephemeral'"],
])('the unknown option %s is refused with what may be meant', (name, meant) => {
  expect(callOptionsError({ [name]: 1 })?.message).toContain(`is ${meant} meant?`);
});

const WRONG = { timeoutMs: Number.NaN };
const { Lock, Mutex, Semaphore, ReadWriteLock, SimpleLock, LeaderLatch, Queue } = library;

describe('what waits', () => {
  const rows: [string, (given: object) => Promise<unknown>][] = [
    ['Lock', (given) => new Lock(newWorld().one, '/a').acquire(given)],
    ['Mutex', (given) => new Mutex(newWorld().one, '/a').acquire(given)],
    ['Semaphore', (given) => new Semaphore(newWorld().one, '/a', { maxLeases: 1 }).acquire(given)],
    ['ReadWriteLock', (given) => new ReadWriteLock(newWorld().one, '/a').write.acquire(given)],
    ['SimpleLock', (given) => new SimpleLock(newWorld().one, '/a').acquire(given)],
    ['LeaderLatch', (given) => new LeaderLatch(newWorld().one, '/a').waitForLeadership(given)],
    ['Queue', (given) => new Queue(newWorld().one, '/a').take(given)],
    ['Barrier', (given) => new library.Barrier(newWorld().one, '/a').wait(given)],
    ['waitForExistence', (given) => library.waitForExistence(newWorld().one, '/a', given)],
    ['createRecursive', (given) => library.createRecursive(newWorld().one, '/a', null, given)],
  ];

  it.each(rows)('%s refuses what is no time and what it does not know', async (_, call) => {
    await expect(call(WRONG)).rejects.toThrow(OptionError);
    await expect(call({ timeout: 5 })).rejects.toThrow(OptionError);
  });

  it('waits without limit when it is told 0, as an operation does', async () => {
    const { one, other, surroundings } = newWorld();
    const held = await new Lock(one, '/a').acquire();
    const waiting = new Lock(other, '/a').acquire({ timeoutMs: 0 });
    await turns(20);
    surroundings.advance(3_600_000);
    await held.release();
    await (await waiting).release();
  });
});
