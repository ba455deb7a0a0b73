import { expect, it } from 'vitest';
import {
  type Contender,
  nameOf,
  problemsOf,
  type Recipe,
  waitingIn,
  watchStateOf,
} from './recipe.js';

const ONE: Contender = {
  name: 'lock-0000000001',
  part: 'lock',
  session: '0x1',
  member: 1,
  address: '10.0.0.1:5',
  since: 1000,
  data: null,
  watches: null,
};
const LOCK: Recipe = {
  path: '/l',
  kind: 'lock',
  count: 2,
  truncated: false,
  holders: [ONE],
  waiters: [ONE],
  oldest: null,
  ready: null,
  permits: null,
};

it('a watch is lost only where somebody would know of it', () => {
  expect(watchStateOf({ ...ONE, watchesKnown: true })).toBe('lost');
  expect(watchStateOf(ONE)).toBe('unknown');
  expect(watchStateOf({ ...ONE, watches: 'lock-0000000000' })).toBe('watches');
});

it('problems are sentences about what was told', () => {
  const deaf = { ...LOCK, waiters: [{ ...ONE, watchesKnown: true }] };
  expect(problemsOf(deaf)).toEqual([expect.stringContaining('will not learn')]);
  expect(problemsOf(LOCK)).toEqual([]);
  const semaphore: Recipe = { ...LOCK, kind: 'semaphore', waiters: [], permits: 0 };
  expect(problemsOf(semaphore)).toEqual(['1 hold it, although it has 0 permits.']);
});

it('a contender is called by its data, its address or its session', () => {
  expect(nameOf({ ...ONE, data: ' worker-7 ' })).toBe('worker-7');
  expect(nameOf(ONE)).toBe('10.0.0.1:5');
  expect(nameOf({ ...ONE, address: null })).toBe('0x1');
  expect(nameOf({ ...ONE, address: null, session: null })).toBe('lock-0000000001');
});

it('those who wait are counted beyond the hundred that are told', () => {
  expect(waitingIn(LOCK)).toBe(1);
  const many = { ...LOCK, count: 501, waiters: Array.from({ length: 100 }, () => ONE) };
  expect(waitingIn(many)).toBe(500);
});
