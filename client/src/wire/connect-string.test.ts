import { expect, it } from 'vitest';
import { ConnectStringError } from '../api/errors.js';
import { parseConnectString, serverText } from './connect-string.js';

it('reads hosts with and without ports, IPv6 addresses, spaces and empty items', () => {
  const { servers, chroot } = parseConnectString(' a , b:1,,[::1]:99,[fe80::1%eth0],::2,a:2181');
  expect(servers).toEqual([
    { host: 'a', port: 2181 },
    { host: 'b', port: 1 },
    { host: '::1', port: 99 },
    { host: 'fe80::1%eth0', port: 2181 },
    { host: '::2', port: 2181 },
  ]);
  expect(servers.map(serverText)).toEqual([
    ...['a:2181', 'b:1', '[::1]:99', '[fe80::1%eth0]:2181', '[::2]:2181'],
  ]);
  expect(chroot).toBe('');
});

it("reads an IPv6 address without brackets as ZooKeeper's Java client does", () => {
  // Curator makes such a list of the members in /zookeeper/config.
  const text = '::1:2181,0:0:0:0:0:0:0:1:2182,2001:db8::1:2183,fe80::1%eth0:2184/app';
  const { servers, chroot } = parseConnectString(text);
  expect(servers.map(serverText)).toEqual([
    ...['[::1]:2181', '[0:0:0:0:0:0:0:1]:2182', '[2001:db8::1]:2183', '[fe80::1%eth0]:2184'],
  ]);
  expect(chroot).toBe('/app');
});

it('reads the chroot behind the last host', () => {
  expect(parseConnectString('a,b/app/x').chroot).toBe('/app/x');
  expect(parseConnectString('a/').chroot).toBe('');
});

it.each([
  ['', 'no server'],
  ['/chroot', 'no server'],
  [',', 'no server'],
  ['a:0', 'bad port'],
  ['a:65536', 'bad port'],
  ['a:port', 'bad port'],
  ['a:', 'bad port'],
  [':2181', 'bad host'],
  ['[::1', 'bad host'],
  ['[]:2181', 'bad host'],
  ['[::1]2181', 'bad host'],
  ['[::1]:', 'bad port'],
  ['[zk:1]:2181', 'bad host'],
  ['zk1:2181:2182', 'bad host'],
  ['::1:65536', 'bad port'],
  ['::1:0', 'bad port'],
  ['a b', 'bad host'],
  ['a/x/', 'chroot'],
  ['a//x', 'chroot'],
  ['a:1/x,b:2/x', 'a chroot stands once, behind the last server'],
  ['a:1/x,b:2', 'a chroot stands once, behind the last server'],
  ['zk://a:2181', 'no URL is meant'],
  ['a;b', 'bad host'],
])('refuses %j: %s', (text, problem) => {
  expect(() => parseConnectString(text)).toThrow(ConnectStringError);
  expect(() => parseConnectString(text)).toThrow(problem);
});

it.each([undefined, null, ['a:2181']])('refuses %o, which is no string', (value) => {
  const untyped = () => Reflect.apply(parseConnectString, null, [value]);
  expect(untyped).toThrow(ConnectStringError);
});
