import { expect, it } from 'vitest';
import { addressGroup, plainAddress } from './address-group.js';

it.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('%s is of the group %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

it('shows an IPv4 address that is mapped into IPv6 in the form of IPv4, and changes no other', () => {
  expect(plainAddress('::ffff:127.0.0.1')).toBe('127.0.0.1');
  expect(plainAddress('::FFFF:127.0.0.1')).toBe('127.0.0.1');
  expect(plainAddress('127.0.0.1')).toBe('127.0.0.1');
  expect(plainAddress('::1')).toBe('::1');
  expect(plainAddress('::ffff:1:2')).toBe('::ffff:1:2');
});
