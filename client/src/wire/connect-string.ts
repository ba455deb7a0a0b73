/**
 * Connect strings: "host1:2181,[::1]:2182/chroot". Computes only.
 *
 * The default port is 2181. An IPv6 address is in brackets; without them it is read as ZooKeeper's
 * Java client does, "::1:2182" with the port behind the last colon, or, where that can be no port,
 * as an address without one. The chroot, after the last host, is a legal path or absent.
 */
import { isIPv6 } from 'node:net';
import { addressText, parseAddress, validatePath } from '@rookery/protocol';
import { ConnectStringError } from '../api/errors.js';

export interface ServerName {
  readonly host: string;
  readonly port: number;
}

export interface ParsedConnectString {
  /** At least one server, each only once, in the given order. */
  readonly servers: readonly ServerName[];
  /** '' if there is none, else a path without a trailing slash. */
  readonly chroot: string;
}

const PORT_DEFAULT = 2181;
const PORT_MAX = 65_535;

/** Throws ConnectStringError. */
export function parseConnectString(text: string): ParsedConnectString {
  if (typeof text !== 'string')
    throw new ConnectStringError(text, 'the connect string is no string');
  if (text.includes('://'))
    throw new ConnectStringError(text, 'no URL is meant, but host:port,...');
  const slash = text.indexOf('/');
  const hosts = slash === -1 ? text : text.slice(0, slash);
  const path = slash === -1 ? '' : text.slice(slash);
  const chroot = path === '/' ? '' : path;
  if (chroot !== '') {
    const problem = validatePath(chroot);
    if (problem !== null) throw new ConnectStringError(text, `bad chroot, ${problem}`);
    // A chroot after every server would otherwise be parsed as one long path after the first.
    if (chroot.split('/').some(namesServer)) {
      throw new ConnectStringError(text, 'a chroot stands once, behind the last server');
    }
  }
  const servers = new Map<string, ServerName>();
  for (const item of hosts.split(',')) {
    const trimmed = item.trim();
    if (trimmed === '') continue;
    const server = parseServer(trimmed, text);
    servers.set(serverText(server), server);
  }
  if (servers.size === 0) throw new ConnectStringError(text, 'no server is named');
  return { servers: [...servers.values()], chroot };
}

/** Whether a segment of a path has a port behind a comma. */
function namesServer(segment: string): boolean {
  const comma = segment.indexOf(',');
  return comma >= 0 && /:\d/.test(segment.slice(comma));
}

/** Returns "host:port", with an IPv6 address in brackets. */
export function serverText({ host, port }: ServerName): string {
  return addressText(host, port);
}

function parseServer(item: string, text: string): ServerName {
  const address = parseAddress(item);
  // What has a colon is an IPv6 address, or no host: `a:b:2181` is none.
  const isHost =
    address !== null &&
    !/[[\]\s;]/.test(address.host) &&
    (!address.host.includes(':') || isIPv6(address.host));
  if (!isHost) throw new ConnectStringError(text, `bad host ${item}`);
  return { host: address.host, port: parsePort(address.port, text) };
}

function parsePort(port: string | null, text: string): number {
  if (port === null) return PORT_DEFAULT;
  const value = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (value < 1 || value > PORT_MAX)
    throw new ConnectStringError(text, `bad port ${JSON.stringify(port)}`);
  return value;
}
