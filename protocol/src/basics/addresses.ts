/**
 * Addresses as text: `host:port`, with an IPv6 address in brackets. They are written and read here
 * alone, because a colon next to an IPv6 address means two things. No name is looked up.
 */
import { isIPv6 } from 'node:net';

const GROUPS = 8;
const HEX = 16;

/** Writes `host:port`, with an IPv6 address in brackets. */
export function addressText(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** As `addressText`, in the form in which ZooKeeper's servers write an IPv6 address. */
export function longAddressText(host: string, port: number): string {
  return addressText(longHost(host), port);
}

/**
 * Writes an IPv6 address as Java does: eight groups, without leading zeros, in lower case, and with
 * the zone that it has; an IPv4 address that is mapped into IPv6 is the IPv4 address. Returns any
 * other text unchanged.
 */
export function longHost(host: string): string {
  if (!isIPv6(host)) return host;
  const [address = '', zone] = host.split('%');
  const [head = '', tail] = address.split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = new Array<number>(GROUPS - first.length - last.length).fill(0);
  const groups = [...first, ...zeros, ...last];
  if (isMapped(groups)) return groups.slice(-2).flatMap(bytesOf).join('.');
  const text = groups.map((group) => group.toString(HEX)).join(':');
  return zone === undefined ? text : `${text}%${zone}`;
}

/** An address that was read; `port` is null if it has none, and otherwise whatever is there. */
export interface AddressParts {
  readonly host: string;
  readonly port: string | null;
}

/**
 * Reads `host`, `host:port`, `[address]` or `[address]:port`. An IPv6 address without brackets is
 * read as ZooKeeper's Java client does: what follows the last colon is the port if it is a number
 * and an IPv6 address precedes it. Where that is not so, the whole is an address. Returns null for
 * brackets that are not closed or are followed by anything but a port, and for an empty host.
 */
export function parseAddress(text: string): AddressParts | null {
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    const [host, rest] = [text.slice(1, end), text.slice(end + 1)];
    if (end < 2 || (rest !== '' && !rest.startsWith(':'))) return null;
    return { host, port: rest === '' ? null : rest.slice(1) };
  }
  const colon = text.lastIndexOf(':');
  if (colon === -1) return text === '' ? null : { host: text, port: null };
  const [host, port] = [text.slice(0, colon), text.slice(colon + 1)];
  const isPart = isIPv6(text) && !(isIPv6(host) && /^\d+$/.test(port));
  if (isPart) return { host: text, port: null };
  return host === '' ? null : { host, port };
}

/** The numbers of the groups between colons; the last one may be an IPv4 address. */
function groupsOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, HEX)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
}

function bytesOf(group: number): readonly number[] {
  return [group >> 8, group & 0xff];
}
