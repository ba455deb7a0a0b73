/**
 * Members that know each other by names that a test controls.
 *
 * Each runs in a mount namespace in which /etc/hosts is a file of the ensemble's directory, and
 * /etc/resolv.conf names a name server of the test's choice; without one no other name resolves.
 * Needs Linux and root.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerAddress } from '@rookery/server';
import { type Product, productNamed } from './product.js';

/** Nobody listens there. */
const NO_NAME_SERVER = '127.29.22.54';

export const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

export const nameOf = (id: number) => `rookery-${id}.test`;

export interface NamedOptions {
  readonly nameServer?: string;
  /** What each member's entry in the config file contains besides its name. */
  readonly entry?: (id: number) => Partial<ServerAddress>;
}

export function namedMembers({ nameServer = NO_NAME_SERVER, entry }: NamedOptions = {}): Product {
  const rookery = productNamed('rookery');
  return {
    ...rookery,
    prepare(layout) {
      const servers = layout.servers.map((server) => ({
        ...server,
        host: nameOf(server.id),
        ...entry?.(server.id),
      }));
      // The names are those of loopback addresses, which a config file cannot know.
      const settings = { peerAuth: 'none', ...layout.settings };
      const command = rookery.prepare({ ...layout, servers, settings });
      const resolver = join(layout.directory, 'resolv.conf');
      writeFileSync(resolver, `nameserver ${nameServer}\noptions timeout:5 attempts:2\n`);
      const script =
        `mount --bind ${hostsFile(layout.directory)} /etc/hosts && ` +
        `mount --bind ${resolver} /etc/resolv.conf && exec "$@"`;
      return {
        ...command,
        file: 'unshare',
        args: ['--mount', 'sh', '-c', script, 'sh', command.file, ...command.args],
      };
    },
  };
}

export function idsAt(address: string, ids: readonly number[]): ReadonlyMap<number, string> {
  return new Map(ids.map((id) => [id, address]));
}

/** The file is written in place, because a bind mount refers to the file and not to its name. */
export function writeHosts(directory: string, addresses: ReadonlyMap<number, string>): void {
  const lines = [...addresses].map(([id, address]) => `${address} ${nameOf(id)}`);
  writeFileSync(hostsFile(directory), `127.0.0.1 localhost\n${lines.join('\n')}\n`);
}

function hostsFile(directory: string): string {
  return join(directory, 'hosts');
}
