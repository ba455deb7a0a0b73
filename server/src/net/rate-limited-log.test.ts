import { expect, it } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { RateLimitedLog } from './rate-limited-log.js';

function bench() {
  const timers = new ManualTimers();
  const { logger, lines } = keptLog();
  const told = () => lines.map(({ msg, from, leftOut }) => [msg, from, leftOut]);
  return { timers, rateLimited: new RateLimitedLog(logger, timers), told };
}

it('tells the first at once, then the last of each second with the number of the others', async () => {
  const { timers, rateLimited, told } = bench();
  for (let from = 1; from <= 100; from++) rateLimited.warn('a', { from });
  expect(told()).toEqual([['a', 1, undefined]]);
  await timers.advance(999);
  rateLimited.warn('a', { from: 101 });
  await timers.advance(1);
  expect(told().slice(1)).toEqual([['a', 101, 99]]);
  rateLimited.warn('a', { from: 102 });
  await timers.advance(999);
  expect(told().length).toBe(2);
  await timers.advance(5_000);
  expect(told().slice(2)).toEqual([['a', 102, undefined]]);
  rateLimited.warn('a', { from: 103 });
  expect(told().length).toBe(4);
});

it('does not let one kind of event silence another', () => {
  const { rateLimited, told } = bench();
  rateLimited.warn('a', { from: 1 });
  rateLimited.info('b', { from: 2 });
  rateLimited.error('c', { from: 3 });
  expect(told().map(([event]) => event)).toEqual(['a', 'b', 'c']);
});

it('tells what is left when it closes, once', async () => {
  const { timers, rateLimited, told } = bench();
  for (let from = 1; from <= 4; from++) rateLimited.warn('a', { from });
  rateLimited.close();
  expect(told().at(-1)).toEqual(['a', 4, 2]);
  await timers.advance(5_000);
  expect(told().length).toBe(2);
});

it('tells kinds of one event apart when it is given them', async () => {
  const { timers, rateLimited, told } = bench();
  for (const from of [1, 2, 1, 2]) rateLimited.warn('a', { from }, `a ${from}`);
  expect(told().map(([, from]) => from)).toEqual([1, 2]);
  await timers.advance(1_000);
  expect(told().slice(2)).toEqual([
    ['a', 1, undefined],
    ['a', 2, undefined],
  ]);
});
