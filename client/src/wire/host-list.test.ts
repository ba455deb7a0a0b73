import { expect, it } from 'vitest';
import { HostList } from './host-list.js';

const servers = ['a', 'b', 'c', 'd'].map((host) => ({ host, port: 1 }));
const named = (host: string) => ({ host, port: 1 });

function listOf(shuffle: boolean, random = () => 0): HostList {
  return new HostList(servers, { resolve: async (host) => [host], shuffle, random });
}

const orderOf = (list: HostList) =>
  list
    .round()
    .map(({ server }) => server.host)
    .join('');

it('gives every server once in a round, from behind the one that was lost', () => {
  const list = listOf(false);
  expect(orderOf(list)).toBe('abcd');
  list.startBehind(named('b'));
  expect(orderOf(list)).toBe('cdab');
  list.startBehind(named('d'));
  expect(orderOf(list)).toBe('abcd');
});

it('starts one round, and no more, with a preferred server', () => {
  const list = listOf(false);
  list.startWith(named('c'));
  list.startBehind(named('a'));
  expect(orderOf(list)).toBe('cdab');
  expect(orderOf(list)).toBe('bcda');
});

it('shuffles servers once and addresses each time', async () => {
  let draws = 0;
  const list = listOf(true, () => 1 / ++draws);
  expect(orderOf(list)).toBe('dcba');
  expect(orderOf(list)).toBe('dcba');
  const [first] = list.round();
  expect(await first?.addresses()).toEqual([{ server: named('d'), ip: 'd' }]);
  expect(draws).toBe(5);
});
