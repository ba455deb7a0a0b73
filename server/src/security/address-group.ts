/**
 * Which addresses count as one where strangers are bounded: an IPv4 address is by itself, IPv6
 * addresses are one for each network of 64 bits, because whoever has one of them has all of them.
 *
 * Used for everything that is bounded by address but must not be escaped by taking another one. It
 * says nothing of who somebody is. Pure.
 */

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** `address` as Node writes it; any other text is a group of its own. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - first.length - last.length);
  const all = [...first, ...Array.from({ length: zeros }, () => '0'), ...last];
  return `${all.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
