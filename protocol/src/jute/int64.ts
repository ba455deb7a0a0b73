/**
 * The 64-bit integers of the client protocol without loss and, where it counts, without BigInt.
 *
 * Invariant (normalised): a value that is a safe integer is always a number, any other a bigint. So
 * `===` and `<` mean what they say, and everything that Rookery makes itself is a number.
 */
import { assert } from '../assert.js';

export type Int64 = number | bigint;

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** From the two halves of the wire: `high` signed, `low` unsigned. */
export function int64FromHalves(halves: { readonly high: number; readonly low: number }): Int64 {
  const value = halves.high * 0x1_0000_0000 + halves.low;
  if (Number.isSafeInteger(value)) return value;
  return (BigInt(halves.high) << 32n) | BigInt(halves.low);
}

/** Normalises; asserts that the value is an integer of 64 bits, signed. */
export function toInt64(value: Int64): Int64 {
  if (typeof value === 'number') {
    assert(Number.isSafeInteger(value), () => `${value} is not a safe integer`);
    return value === 0 ? 0 : value;
  }
  assert(value >= INT64_MIN && value <= INT64_MAX, () => `${value} does not fit in 64 bits`);
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/** Lower-case hex digits of the two's complement without `0x`, as ZooKeeper prints ids. */
export function int64ToHex(value: Int64): string {
  if (typeof value === 'number' && value >= 0) return value.toString(16);
  return BigInt.asUintN(64, BigInt(value)).toString(16);
}
