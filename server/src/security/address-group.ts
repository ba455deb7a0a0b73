/**
 * The one form of an address, and which addresses count as one where strangers are bounded: an IPv4
 * address is by itself, IPv6 addresses are one for each network of 64 bits, because whoever has one
 * of them has all of them.
 *
 * Groups are used for everything that is bounded by address but must not be escaped by taking
 * another one. They say nothing of who somebody is. Pure.
 */

import { isLoopback } from '../config/addresses.js';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Returns an IPv4 address that is mapped into IPv6 (`::ffff:a.b.c.d`, as a socket of both families
 * shows it) in the form of IPv4, and any other text unchanged.
 */
export function plainAddress(address: string): string {
  return MAPPED.exec(address)?.[1] ?? address;
}

/** Whether it is a loopback address, IPv4-mapped or not. */
export function isLoopbackAddress(address: string): boolean {
  return isLoopback(plainAddress(address));
}

/** `address` as Node writes it; any other text is a group of its own. */
export function addressGroup(address: string): string {
  const plain = plainAddress(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = withoutZone(plain).split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - first.length - last.length);
  const all = [...first, ...Array.from({ length: zeros }, () => '0'), ...last];
  return `${all.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

function withoutZone(address: string): string {
  const percent = address.indexOf('%');
  return percent < 0 ? address : address.slice(0, percent);
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.replace(/^0+/, '') || '0');
}
