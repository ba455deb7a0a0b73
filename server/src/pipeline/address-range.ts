/**
 * Handles IP addresses and ranges of them (`address` or `address/bits`), of both families.
 *
 * An IPv4 address that is mapped into IPv6 (`::ffff:a.b.c.d`) is the IPv4 address, because a socket
 * of both families shows the one in the other's form. ZooKeeper 3.8 knows IPv4 only.
 */

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const MAPPED_BITS = 96;
const DOT = 0x2e;
const PLUS = 0x2b;
const ZERO = 0x30;
const NINE = 0x39;
const NO_DIGIT = -1;
/** As Java parses an integer: a plus sign and leading zeros are allowed. */
const NATURAL = /^\+?\d+$/;

export function isAddressRange(text: string): boolean {
  return rangeOf(text) !== null;
}

/**
 * A text for what all addresses of a range have in common, which no other range has; null for what
 * is not a range.
 */
export function prefixOfRange(range: string): Prefix | null {
  const parsed = rangeOf(range);
  if (parsed === null) return null;
  const { bytes, bits } = parsed;
  return { key: keyOf(bytes, bits), bits, width: bytes.length * 8 };
}

/**
 * The keys of the ranges with these `lengths` that contain an address; none if it is no address.
 * Addresses of different families are in no common range.
 */
export function keysOfAddress(address: string, lengths: Iterable<PrefixLength>): string[] {
  const own = bytesOf(address);
  const keys: string[] = [];
  if (own === null) return keys;
  for (const { bits, width } of lengths) {
    if (width === own.length * 8) keys.push(keyOf(own, bits));
  }
  return keys;
}

/** How many of the `width` bits of an address count. */
export interface PrefixLength {
  readonly bits: number;
  readonly width: number;
}

export interface Prefix extends PrefixLength {
  readonly key: string;
}

interface Range {
  readonly bytes: readonly number[];
  readonly bits: number;
}

function rangeOf(text: string): Range | null {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const bytes = ipv4Bytes(address) ?? ipv6Bytes(address);
  if (bytes === null) return null;
  const width = bytes.length * 8;
  let bits = width;
  if (slash >= 0) {
    const digits = text.slice(slash + 1);
    if (!NATURAL.test(digits)) return null;
    bits = Number(digits);
    if (bits > width) return null;
  }
  if (!isMapped(bytes) || bits < MAPPED_BITS) return { bytes, bits };
  return { bytes: bytes.slice(MAPPED_BITS / 8), bits: bits - MAPPED_BITS };
}

function bytesOf(address: string): readonly number[] | null {
  const bytes = ipv4Bytes(address) ?? ipv6Bytes(address);
  return bytes !== null && isMapped(bytes) ? bytes.slice(MAPPED_BITS / 8) : bytes;
}

function isMapped(bytes: readonly number[]): boolean {
  if (bytes.length !== IPV6_BYTES || bytes[10] !== 0xff || bytes[11] !== 0xff) return false;
  return bytes.slice(0, 10).every((byte) => byte === 0);
}

/**
 * As Java parses each integer: a plus sign and leading zeros are allowed. Lists may have thousands.
 */
function ipv4Bytes(text: string): readonly number[] | null {
  const bytes: number[] = [];
  let value = NO_DIGIT;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? DOT : text.charCodeAt(at);
    if (code === DOT) {
      if (value === NO_DIGIT || bytes.push(value) > IPV4_BYTES) return null;
      value = NO_DIGIT;
    } else if (code >= ZERO && code <= NINE) {
      value = Math.max(value, 0) * 10 + code - ZERO;
      if (value > 255) return null;
    } else if (code !== PLUS || (at > 0 && text.charCodeAt(at - 1) !== DOT)) {
      return null;
    }
  }
  return bytes.length === IPV4_BYTES ? bytes : null;
}

function ipv6Bytes(text: string): readonly number[] | null {
  // The interface of a link-local address says nothing about its identity.
  const [address = '', ...zone] = text.split('%');
  if (zone.length > 1) return null;
  const halves = address.split('::');
  if (halves.length > 2) return null;
  const [front, back] = halves.map((half, index) => groupBytes(half, index === halves.length - 1));
  if (front === undefined || front === null || back === null) return null;
  if (back === undefined) return front.length === IPV6_BYTES ? front : null;
  const missing = IPV6_BYTES - front.length - back.length;
  if (missing < 2) return null;
  return [...front, ...Array.from({ length: missing }, () => 0), ...back];
}

/** The bytes of groups between colons; the last one may be an IPv4 address. */
function groupBytes(text: string, isLast: boolean): readonly number[] | null {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
      continue;
    }
    const embedded = isLast && index === groups.length - 1 ? ipv4Bytes(group) : null;
    if (embedded === null) return null;
    bytes.push(...embedded);
  }
  return bytes;
}

/** A key made from the first `bits` bits. */
function keyOf(bytes: readonly number[], bits: number): string {
  const whole = bits >> 3;
  let key = `${bytes.length}/${bits}`;
  for (let index = 0; index < whole; index++) key += `.${bytes[index] ?? 0}`;
  const rest = bits & 7;
  return rest === 0 ? key : `${key}.${(bytes[whole] ?? 0) & (0xff << (8 - rest))}`;
}
