/**
 * Derives the addresses of a member's ports from its entry in the config file, and recognizes hosts
 * that only this machine can reach.
 *
 * Other members and clients dial `host`. It is also bound, unless the entry says otherwise. Pure;
 * names are not resolved here.
 */
import { BlockList, isIP } from 'node:net';

/** In the place of a host: all addresses of the machine, of both families. */
export const EVERY_ADDRESS = '*';

const WILDCARDS: ReadonlySet<string> = new Set([EVERY_ADDRESS, '0.0.0.0', '::']);

/** Whether the host means all addresses of the machine, of one family or of both. */
export function isEveryAddress(host: string): boolean {
  return WILDCARDS.has(host);
}

/** Where a port is opened: at one host or at each of several. */
export interface ListenAddress {
  readonly host: string | readonly string[];
  readonly port: number;
}

export function listenHostsOf({ host }: ListenAddress): readonly string[] {
  return typeof host === 'string' ? [host] : host;
}

type Hosts = string | readonly string[] | undefined;

export interface Endpoints {
  readonly host: string;
  readonly listen?: Hosts;
  readonly peerListen?: Hosts;
  readonly clientPort: number;
  readonly secureClientPort?: number | undefined;
  readonly peerPort: number;
}

export function clientAddressOf(server: Omit<Endpoints, 'peerPort'>): ListenAddress {
  return { host: server.listen ?? server.host, port: server.clientPort };
}

/** Null if the member has no port that takes only TLS. */
export function secureClientAddressOf(server: Omit<Endpoints, 'peerPort'>): ListenAddress | null {
  const { secureClientPort } = server;
  return secureClientPort === undefined
    ? null
    : { ...clientAddressOf(server), port: secureClientPort };
}

export function peerAddressOf(server: Omit<Endpoints, 'clientPort'>): ListenAddress {
  return { host: server.peerListen ?? server.listen ?? server.host, port: server.peerPort };
}

/** An HTTP port has one host: without a setting it is the first one of the client port. */
export function metricsHostOf(
  { metricsHost }: { readonly metricsHost: string | null },
  server: Endpoints,
): string {
  if (metricsHost !== null) return metricsHost;
  const [first = server.host] = listenHostsOf(clientAddressOf(server));
  return first;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether only this machine can reach the host. The only name that counts as one of loopback is
 * `localhost`, because DNS is not asked.
 */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
