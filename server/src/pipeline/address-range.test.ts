import { describe, expect, it } from 'vitest';
import { isAddressRange, keysOfAddress, prefixOfRange } from './address-range.js';

/** Asks as a list does: by the key of the range. */
function inAddressRange(address: string, range: string): boolean {
  const prefix = prefixOfRange(range);
  return prefix !== null && keysOfAddress(address, [prefix]).includes(prefix.key);
}

describe('an address range', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.4', '10.1.2.3', false],
    ['10.1.2.3', '10.1.2.3/32', true],
    ['10.1.2.255', '10.1.2.0/24', true],
    ['10.1.3.0', '10.1.2.0/24', false],
    ['10.1.2.127', '10.1.2.0/25', true],
    ['10.1.2.128', '10.1.2.0/25', false],
    ['10.1.3.255', '10.1.2.7/23', true],
    ['192.168.0.1', '0.0.0.0/0', true],
    ['2001:db8::1', '2001:db8::1', true],
    ['2001:db8:0:0:0:0:0:1', '2001:0DB8::0001', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['2001:db8:ffff::1', '2001:db8::/32', true],
    ['2001:db9::1', '2001:db8::/32', false],
    ['2001:db8:8000::', '2001:db8::/33', false],
    ['fe80::1%eth0', 'fe80::/10', true],
    ['::1', '::/0', true],
  ])('%s is in %s: %s', (address, range, expected) => {
    expect(inAddressRange(address, range)).toBe(expected);
  });

  it('sees an IPv4-mapped address as the IPv4 address, on either side', () => {
    expect(inAddressRange('::ffff:10.1.2.3', '10.1.2.3')).toBe(true);
    expect(inAddressRange('10.1.2.3', '::ffff:10.1.2.3')).toBe(true);
    expect(inAddressRange('10.1.2.3', '::ffff:a01:203')).toBe(true);
    expect(inAddressRange('10.1.2.9', '::ffff:10.1.2.0/120')).toBe(true);
    expect(inAddressRange('10.1.3.9', '::ffff:10.1.2.0/120')).toBe(false);
  });

  it('holds no address of the other family', () => {
    expect(inAddressRange('10.1.2.3', '::/0')).toBe(false);
    expect(inAddressRange('::1', '0.0.0.0/0')).toBe(false);
  });

  it('holds nothing that is no address', () => {
    expect(inAddressRange('', '0.0.0.0/0')).toBe(false);
    expect(inAddressRange('10.1.2', '0.0.0.0/0')).toBe(false);
    expect(inAddressRange('10.1.2.3', 'nonsense')).toBe(false);
  });

  it.each(['1.2.3.4/+8', '001.2.3.4/08', '0.0.0.0'])('%s is one, as in ZooKeeper', (text) => {
    expect(isAddressRange(text)).toBe(true);
  });
  it.each(['1.2.3.4', '1.2.3.4/0', '1.2.3.4/32', '::', '::1/128', '1::', 'fe80::1:2/64'])(
    '%s is one',
    (text) => expect(isAddressRange(text)).toBe(true),
  );
  it.each(['::ffff:1.2.3.4', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:1.2.3.4'])('%s is one', (text) => {
    expect(isAddressRange(text)).toBe(true);
  });
  it.each([
    ...['', '/', '1.2.3', '1.2.3.256', '1.2.3.4.5', '1.2.3.4/', '1.2.3.4/33', '1.2.3.4/-1'],
    ...['1.2.3.4/8/8', 'a.b.c.d', '::1/129', '1:2:3', ':::', '1::2::3', '12345::', '::1.2.3'],
    ...['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', '1.2.3.4::', 'localhost'],
  ])('%j is none', (text) => expect(isAddressRange(text)).toBe(false));
});
