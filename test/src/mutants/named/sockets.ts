/**
 * Named bugs at sockets and names: a server that accepts nothing more, addresses that were looked
 * up once, a client in an endless loop. Two of them are the client's.
 */
import { type NamedMutant, scenario } from './named-mutant.js';

export const socketMutants: readonly NamedMutant[] = [
  {
    name: 'zk-4203-deaf-after-accept-failed',
    area: 'named',
    in: 'TcpListener.bind',
    find: "this.#rateLimited.error('net.accept_failed', { ...address, err: error });",
    replace: 'server.close(() => error);',
    breaks: 'a listener whose accept fails continues to accept',
    scenario: scenario(
      'sockets',
      'ZK-4203: a listener whose accept fails reports it and continues to accept',
    ),
  },
  {
    name: 'zk-1506-peer-resolved-once',
    area: 'named',
    in: 'PeerNames.resolve',
    find: 'return this.#names.resolve(name);',
    replace: `const known: unknown = Reflect.get(this, 'resolved');
      if (known instanceof Promise) return known;
      const resolved = this.#names.resolve(name);
      Reflect.set(this, 'resolved', resolved);
      return resolved;`,
    breaks: 'a peer’s name is resolved again at each dial',
    scenario: scenario(
      'sockets',
      'ZK-1506, ZK-2982: a peer whose name resolves to a new address is found there at the next attempt',
    ),
  },
  {
    name: 'zk-2184-server-resolved-once',
    area: 'named',
    in: 'HostList.#addressesOf',
    find: 'const ips = await this.#options.resolve(server.host);',
    replace: `const ips = Reflect.get(this, 'resolved') ?? (await this.#options.resolve(server.host));
      Reflect.set(this, 'resolved', ips);`,
    breaks: 'a server’s name is resolved again in each round',
    scenario: scenario(
      'clients',
      'ZK-2184: a server whose name resolves to a new address is found there in the next round',
    ),
  },
  {
    name: 'zk-4508-no-pause-between-rounds',
    area: 'named',
    in: 'BackOff.nextDelayMs',
    find: 'return ceilingMs * surroundings.random();',
    replace: 'return Math.min(1, ceilingMs * surroundings.random());',
    breaks: 'while no server is up, a client waits longer and longer between its rounds',
    scenario: scenario(
      'clients',
      'ZK-4508: while no server is up, attempts become less frequent, and the first server that comes up is found',
    ),
  },
];
