import { expect, it } from 'vitest';
import { ManualTimers } from './manual-timers.js';
import { StormLog } from './storm-log.js';
import { keptLog } from './testing/fixtures.js';

function bench() {
  const timers = new ManualTimers();
  const { logger, lines } = keptLog();
  const told = () => lines.map(({ msg, from, leftOut }) => [msg, from, leftOut]);
  return { timers, storms: new StormLog(logger, timers), told };
}

it('tells the first at once, then the last of each second with the number of the others', async () => {
  const { timers, storms, told } = bench();
  for (let from = 1; from <= 100; from++) storms.warn('a', { from });
  expect(told()).toEqual([['a', 1, undefined]]);
  await timers.advance(999);
  storms.warn('a', { from: 101 });
  await timers.advance(1);
  expect(told().slice(1)).toEqual([['a', 101, 99]]);
  storms.warn('a', { from: 102 });
  await timers.advance(999);
  expect(told().length).toBe(2);
  await timers.advance(5_000);
  expect(told().slice(2)).toEqual([['a', 102, undefined]]);
  storms.warn('a', { from: 103 });
  expect(told().length).toBe(4);
});

it('does not let one kind of event silence another', () => {
  const { storms, told } = bench();
  storms.warn('a', { from: 1 });
  storms.info('b', { from: 2 });
  storms.error('c', { from: 3 });
  expect(told().map(([event]) => event)).toEqual(['a', 'b', 'c']);
});

it('tells what is left when it closes, once', async () => {
  const { timers, storms, told } = bench();
  for (let from = 1; from <= 4; from++) storms.warn('a', { from });
  storms.close();
  expect(told().at(-1)).toEqual(['a', 4, 2]);
  await timers.advance(5_000);
  expect(told().length).toBe(2);
});

it('tells kinds of one event apart when it is given them', async () => {
  const { timers, storms, told } = bench();
  for (const from of [1, 2, 1, 2]) storms.warn('a', { from }, `a ${from}`);
  expect(told().map(([, from]) => from)).toEqual([1, 2]);
  await timers.advance(1_000);
  expect(told().slice(2)).toEqual([
    ['a', 1, undefined],
    ['a', 2, undefined],
  ]);
});
