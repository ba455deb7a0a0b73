/**
 * Connect strings: "host1:2181,[::1]:2182/chroot". Computes only.
 *
 * The default port is 2181. An IPv6 address with a port is in brackets; without a port it may stand
 * alone. The chroot, after the last host, is a legal path or absent.
 */
import { isIP } from 'node:net';
import { validatePath } from '@rookery/protocol';
import { ConnectStringError } from '../errors.js';

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
export function serverText(server: ServerName): string {
  const host = server.host.includes(':') ? `[${server.host}]` : server.host;
  return `${host}:${server.port}`;
}

function parseServer(item: string, text: string): ServerName {
  const bracketed = /^\[([^\]]+)\](?::(.*))?$/.exec(item);
  if (bracketed !== null) {
    return { host: bracketed[1] ?? '', port: parsePort(bracketed[2], text) };
  }
  const colon = item.indexOf(':');
  const hasNoPort = colon === -1 || isIP(item) === 6;
  const host = hasNoPort ? item : item.slice(0, colon);
  if (host === '' || /[[\]\s;]/.test(host)) throw new ConnectStringError(text, `bad host ${item}`);
  return { host, port: hasNoPort ? PORT_DEFAULT : parsePort(item.slice(colon + 1), text) };
}

function parsePort(port: string | undefined, text: string): number {
  if (port === undefined) return PORT_DEFAULT;
  const value = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (value < 1 || value > PORT_MAX)
    throw new ConnectStringError(text, `bad port ${JSON.stringify(port)}`);
  return value;
}
