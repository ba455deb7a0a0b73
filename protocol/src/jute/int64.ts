/**
 * The 64-bit integers of the client protocol, without loss and on hot paths without BigInt.
 *
 * Invariant (normalized): a safe integer is always a number, any other value is a bigint. Therefore
 * `===` and `<` work as expected, and every integer that Rookery creates itself is a number.
 */
import { assert } from '../basics/assert.js';

export type Int64 = number | bigint;

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** Combines the two halves as they are on the wire: `high` is signed, `low` unsigned. */
export function int64FromHalves(halves: { readonly high: number; readonly low: number }): Int64 {
  const value = halves.high * 0x1_0000_0000 + halves.low;
  if (Number.isSafeInteger(value)) return value;
  return (BigInt(halves.high) << 32n) | BigInt(halves.low);
}

/** Normalizes the value and asserts that it is a signed integer of 64 bits. */
export function toInt64(value: Int64): Int64 {
  if (typeof value === 'number') {
    assert(Number.isSafeInteger(value), () => `${value} is not a safe integer`);
    return value === 0 ? 0 : value;
  }
  assert(value >= INT64_MIN && value <= INT64_MAX, () => `${value} does not fit in 64 bits`);
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/**
 * Returns an id of 64 bits, which `text` has in hex with `0x`, in lower case and without leading
 * zeros. Null for any other text.
 */
export function plainHexId(text: string): string | null {
  const [, digits] = /^0x0*([\da-f]{1,16})$/i.exec(text) ?? [];
  return digits === undefined ? null : `0x${digits.toLowerCase()}`;
}
