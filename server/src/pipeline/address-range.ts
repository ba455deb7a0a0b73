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
const COLON = 0x3a;
const LOWER_A = 0x61;
const LOWER_F = 0x66;
const GROUP_DIGITS_MAX = 4;
const NO_GAP = -1;
const ZEROS: readonly number[] = Array.from({ length: IPV6_BYTES }, () => 0);
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

/**
 * Groups of hex digits between colons, of which the last one may be an IPv4 address; `::` stands
 * once for two zero bytes or more. Nothing is split, because lists may have thousands.
 */
function ipv6Bytes(text: string): readonly number[] | null {
  const end = withoutZone(text);
  const bytes: number[] = [];
  let gap = NO_GAP;
  for (let at = 0; at < end; ) {
    if (isGap(text, at)) {
      if (gap !== NO_GAP) return null;
      gap = bytes.length;
      at += 2;
      continue;
    }
    const last = groupEnd(text, at, end);
    if (last < end && text.charCodeAt(last) !== COLON) {
      const embedded = ipv4Bytes(text.slice(at, end));
      if (embedded === null) return null;
      bytes.push(...embedded);
      break;
    }
    if (last === at || last + 1 === end) return null;
    const value = Number.parseInt(text.slice(at, last), 16);
    bytes.push(value >> 8, value & 0xff);
    at = last === end || isGap(text, last) ? last : last + 1;
  }
  return filled(bytes, gap);
}

/** The interface of a link-local address says nothing about its identity. 0 if there are two. */
function withoutZone(text: string): number {
  const zone = text.indexOf('%');
  if (zone < 0) return text.length;
  return text.indexOf('%', zone + 1) < 0 ? zone : 0;
}

function isGap(text: string, at: number): boolean {
  return text.charCodeAt(at) === COLON && text.charCodeAt(at + 1) === COLON;
}

/** The index behind the hex digits at `from`, of which a group has four at most. */
function groupEnd(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && at < from + GROUP_DIGITS_MAX && isHexDigit(text.charCodeAt(at))) at++;
  return at;
}

function isHexDigit(code: number): boolean {
  const lower = code | 0x20;
  return (code >= ZERO && code <= NINE) || (lower >= LOWER_A && lower <= LOWER_F);
}

/** Puts zeros where the gap is; null unless these are the bytes of an address then. */
function filled(bytes: number[], gap: number): readonly number[] | null {
  if (gap === NO_GAP) return bytes.length === IPV6_BYTES ? bytes : null;
  const missing = IPV6_BYTES - bytes.length;
  if (missing < 2) return null;
  bytes.splice(gap, 0, ...ZEROS.slice(0, missing));
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
