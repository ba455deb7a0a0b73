import { expect, it } from 'vitest';
import {
  FREE_FAILURES,
  LONGEST_DELAY_MS,
  LoginDelays,
  type LoginFailure,
  USERS_MAX,
} from './login-delays.js';

const ADDRESS = '10.0.0.1';
const HERE = { address: ADDRESS, user: 'ann' };

function failing(delays: LoginDelays, times: number, nowMs = 0, origin: object = {}): void {
  for (let count = 0; count < times; count++) delays.failed({ ...HERE, ...origin }, nowMs);
}

it('costs a person who mistypes nothing, and then twice as much each time, up to a bound', () => {
  const told: LoginFailure[] = [];
  const delays = new LoginDelays((failure) => told.push(failure));
  failing(delays, FREE_FAILURES);
  expect([delays.waitMs(HERE, 0), told]).toEqual([0, []]);
  failing(delays, 1);
  expect(delays.waitMs(HERE, 0)).toBe(250);
  expect(delays.waitMs(HERE, 100)).toBe(150);
  expect(delays.waitMs(HERE, 250)).toBe(0);
  failing(delays, 1, 250);
  expect(delays.waitMs(HERE, 250)).toBe(500);
  expect(told.at(-1)).toEqual({
    address: ADDRESS,
    failures: 7,
    waitMs: 500,
    isOfMany: false,
  });
  failing(delays, 1_000, 750);
  expect(delays.waitMs(HERE, 750)).toBe(LONGEST_DELAY_MS);
});

it('forgives one failure for each minute without another, and none for a success', () => {
  const delays = new LoginDelays();
  failing(delays, FREE_FAILURES + 1);
  failing(delays, 1, 59_999);
  expect(delays.waitMs(HERE, 59_999)).toBe(500);
  failing(delays, 1, 59_999 + 120_000);
  expect(delays.waitMs(HERE, 179_999)).toBe(250);
  failing(delays, 1_000, 179_999);
  failing(delays, 1, 180_000 + 3_600_000);
  expect(delays.waitMs(HERE, 3_780_000)).toBe(0);
});

it('delays nobody else: an IPv4 address alone, of IPv6 the network of 64 bits', () => {
  const delays = new LoginDelays();
  failing(delays, 10);
  failing(delays, 10, 0, { address: '2001:db8:1:2::1' });
  const waitMs = (address: string) => delays.waitMs({ ...HERE, address }, 0);
  expect(waitMs('::ffff:10.0.0.1')).toBeGreaterThan(0);
  expect(waitMs('10.0.0.2')).toBe(0);
  expect(waitMs('2001:db8:1:2:3:4:5:6')).toBeGreaterThan(0);
  expect(waitMs('2001:db8:1:3::1')).toBe(0);
});

it('keeps a bounded number of addresses, and forgets the one that failed longest ago', () => {
  const delays = new LoginDelays(undefined, 3);
  for (const last of [1, 2, 3]) failing(delays, 10, last, { address: `10.0.0.${last}` });
  failing(delays, 1, 4, { address: '10.0.0.1' });
  failing(delays, 10, 5, { address: '10.0.0.4' });
  expect(delays.addressCount).toBe(3);
  expect(delays.waitMs({ ...HERE, address: '10.0.0.2' }, 5)).toBe(0);
  expect(delays.waitMs(HERE, 5)).toBeGreaterThan(0);
});

it('makes no other user of the address wait, as behind a proxy', () => {
  const delays = new LoginDelays();
  failing(delays, 100);
  expect(delays.waitMs(HERE, 0)).toBe(LONGEST_DELAY_MS);
  expect(delays.waitMs({ ...HERE, user: 'bob' }, 0)).toBe(0);
});

it('counts all users of an address as one beyond a few, until one of those is forgiven', () => {
  const told: LoginFailure[] = [];
  const delays = new LoginDelays((failure) => told.push(failure));
  const user = (name: number) => ({ address: ADDRESS, user: `user${name}` });
  for (let name = 0; name < USERS_MAX; name++) delays.failed(user(name), 0);
  for (let name = 100; name < 100 + FREE_FAILURES; name++) delays.failed(user(name), 0);
  expect([delays.waitMs(user(999), 0), told]).toEqual([0, []]);
  delays.failed(user(200), 0);
  expect(delays.waitMs(user(999), 0)).toBe(250);
  expect(told).toEqual([{ address: ADDRESS, failures: 6, waitMs: 250, isOfMany: true }]);
  // Those that are told apart go on by themselves.
  expect(delays.waitMs(user(0), 0)).toBe(0);
  for (let count = 0; count < 100; count++) delays.failed(user(300 + count), 0);
  expect(delays.waitMs(user(999), 0)).toBe(LONGEST_DELAY_MS);
  expect([delays.waitMs(user(999), 59_999 - 30_000), delays.addressCount]).toEqual([1, 1]);
  // After a minute without a failure of their own, there is room for others.
  failing(delays, FREE_FAILURES + 1, 60_000, user(999));
  expect(delays.waitMs(user(999), 60_000)).toBe(250);
  expect(told.at(-1)?.isOfMany).toBe(false);
});

it('counts users with long names as one', () => {
  const delays = new LoginDelays();
  failing(delays, FREE_FAILURES + 1, 0, { user: `${'long '.repeat(20)}1` });
  expect(delays.waitMs({ ...HERE, user: `${'long '.repeat(20)}2` }, 0)).toBe(250);
  expect(delays.waitMs({ ...HERE, user: 'long' }, 0)).toBe(0);
});
