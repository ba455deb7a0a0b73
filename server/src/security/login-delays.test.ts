import { expect, it } from 'vitest';
import { FREE_FAILURES, LONGEST_DELAY_MS, LoginDelays, type LoginFailure } from './login-delays.js';

const HERE = '10.0.0.1';

function failing(delays: LoginDelays, times: number, nowMs = 0, address = HERE): void {
  for (let count = 0; count < times; count++) delays.failed(address, nowMs);
}

it('costs a person who mistypes nothing, and then twice as much each time, up to a bound', () => {
  const told: LoginFailure[] = [];
  const delays = new LoginDelays({ onDelay: (failure) => told.push(failure) });
  failing(delays, FREE_FAILURES);
  expect([delays.waitMs(HERE, 0), told]).toEqual([0, []]);
  failing(delays, 1);
  expect(delays.waitMs(HERE, 0)).toBe(250);
  expect(delays.waitMs(HERE, 100)).toBe(150);
  expect(delays.waitMs(HERE, 250)).toBe(0);
  failing(delays, 1, 250);
  expect(delays.waitMs(HERE, 250)).toBe(500);
  expect(told.at(-1)).toEqual({ address: HERE, failures: 7, waitMs: 500 });
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
  failing(delays, 10, 0, '2001:db8:1:2::1');
  expect(delays.waitMs('::ffff:10.0.0.1', 0)).toBeGreaterThan(0);
  expect(delays.waitMs('10.0.0.2', 0)).toBe(0);
  expect(delays.waitMs('2001:db8:1:2:3:4:5:6', 0)).toBeGreaterThan(0);
  expect(delays.waitMs('2001:db8:1:3::1', 0)).toBe(0);
});

it('keeps a bounded number of addresses, and forgets the one that failed longest ago', () => {
  const delays = new LoginDelays({ addressesMax: 3 });
  for (const last of [1, 2, 3]) failing(delays, 10, last, `10.0.0.${last}`);
  failing(delays, 1, 4, '10.0.0.1');
  failing(delays, 10, 5, '10.0.0.4');
  expect(delays.addresses).toBe(3);
  expect(delays.waitMs('10.0.0.2', 5)).toBe(0);
  expect(delays.waitMs('10.0.0.1', 5)).toBeGreaterThan(0);
});
