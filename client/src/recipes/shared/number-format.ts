/**
 * The number formats of counters in other languages, those of Curator and kazoo. Missing and empty
 * data is 0 in all of them. Pure. Used by the atomic long.
 */
import { decodeInt32, decodeInt64, encodeInt32, encodeInt64 } from './curator.js';

/**
 * - `int64`: 8 bytes, big-endian, as in Curator's DistributedAtomicLong.
 * - `int32`: 4 bytes, big-endian, as in Curator's DistributedAtomicInteger and SharedCount, and
 *   kazoo's Counter with `support_curator=True`.
 * - `text`: decimal digits, as in kazoo's Counter.
 */
export type NumberFormat = 'int64' | 'int32' | 'text';

interface Codec {
  readonly description: string;
  /** The number of bits; null if the format has no bound. */
  readonly bits: 32 | 64 | null;
  readonly encode: (value: bigint) => Buffer;
  /** Null for invalid data. It is never called with null or empty data. */
  readonly decode: (data: Buffer) => bigint | null;
}

const CODECS: Readonly<Record<NumberFormat, Codec>> = {
  int64: { description: '8 bytes', bits: 64, encode: encodeInt64, decode: decodeInt64 },
  int32: {
    description: '4 bytes',
    bits: 32,
    encode: (value) => encodeInt32(Number(value)),
    decode: (data) => {
      const value = decodeInt32(data);
      return value === null ? null : BigInt(value);
    },
  },
  text: {
    description: 'a whole number in decimal digits',
    bits: null,
    encode: (value) => Buffer.from(value.toString()),
    decode: (data) => {
      const text = data.toString();
      return /^-?\d{1,1000}$/.test(text) ? BigInt(text) : null;
    },
  },
};

/** For messages. */
export function describeFormat(format: NumberFormat): string {
  return CODECS[format].description;
}

/** Null if the data is not a number in this format. */
export function decodeNumber(format: NumberFormat, data: Buffer | null): bigint | null {
  return data === null || data.length === 0 ? 0n : CODECS[format].decode(data);
}

/** Null if the number is out of range. */
export function encodeNumber(format: NumberFormat, value: bigint): Buffer | null {
  const { bits, encode } = CODECS[format];
  return bits !== null && BigInt.asIntN(bits, value) !== value ? null : encode(value);
}
