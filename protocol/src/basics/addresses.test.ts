import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressText, longAddressText, longHost, parseAddress } from './addresses.js';

it('puts IPv6 addresses into brackets, and nothing else', () => {
  expect(addressText('::1', 2181)).toBe('[::1]:2181');
  expect(addressText('fe80::1%eth0', 2181)).toBe('[fe80::1%eth0]:2181');
  expect(addressText('127.0.0.1', 2181)).toBe('127.0.0.1:2181');
  expect(addressText('zk1.example', 2181)).toBe('zk1.example:2181');
});

it.each([
  ['::1', '0:0:0:0:0:0:0:1'],
  ['::', '0:0:0:0:0:0:0:0'],
  ['2001:DB8::00a0:1', '2001:db8:0:0:0:0:a0:1'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['1::', '1:0:0:0:0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1%eth0'],
  ['::1.2.3.4', '0:0:0:0:0:0:102:304'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::ffff:102:304', '1.2.3.4'],
  ['127.0.0.1', '127.0.0.1'],
  ['zk1.example', 'zk1.example'],
  ['unknown', 'unknown'],
])('writes %s as Java does, %s', (host, text) => {
  expect(longHost(host)).toBe(text);
});

it('writes the address of a port as ZooKeeper does', () => {
  expect(longAddressText('::1', 2181)).toBe('[0:0:0:0:0:0:0:1]:2181');
  expect(longAddressText('::ffff:127.0.0.1', 2181)).toBe('127.0.0.1:2181');
  expect(longAddressText('zk1', 2181)).toBe('zk1:2181');
});

it.each([
  ['zk1', 'zk1', null],
  ['zk1:2181', 'zk1', '2181'],
  ['zk1:', 'zk1', ''],
  ['zk1:x', 'zk1', 'x'],
  ['127.0.0.1:2181', '127.0.0.1', '2181'],
  ['[::1]', '::1', null],
  ['[::1]:2181', '::1', '2181'],
  ['[fe80::1%eth0]:', 'fe80::1%eth0', ''],
  // As ZooKeeper's Java client reads them.
  ['::1:2181', '::1', '2181'],
  ['2001:db8::1:2', '2001:db8::1', '2'],
  ['1:2:3:4:5:6:7:8:2181', '1:2:3:4:5:6:7:8', '2181'],
  ['fe80::1%eth0:2181', 'fe80::1%eth0', '2181'],
  // It would read these as a port of a host that does not exist.
  ['::1', '::1', null],
  ['::', '::', null],
  ['fe80::2', 'fe80::2', null],
  ['2001:db8::a:b', '2001:db8::a:b', null],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8', null],
])('reads %s as the host %s and the port %s', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ host, port });
});

it.each(['', ':2181', '[', '[]', '[]:1', '[::1', '[::1]2181'])('reads no address in %j', (text) => {
  expect(parseAddress(text)).toBeNull();
});

it('reads what it writes', () => {
  const host = fc.oneof(fc.ipV6(), fc.ipV4(), fc.domain());
  fc.assert(
    fc.property(host, fc.integer({ min: 1, max: 65_535 }), (name, port) => {
      expect(parseAddress(addressText(name, port))).toEqual({ host: name, port: String(port) });
      if (!isIPv6(name)) return;
      const long = longHost(name);
      expect(longHost(long)).toBe(long);
      expect(long.split(/[:.]/)).toHaveLength(long.includes('.') ? 4 : 8);
    }),
  );
});
