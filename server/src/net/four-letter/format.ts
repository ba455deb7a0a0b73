/**
 * How the four-letter words print numbers, as Java does.
 */
import type { Int64 } from '@rookery/protocol';

/** At most four decimals and at least one: 0.0, 1.8072. */
export function formatDecimal(value: number): string {
  const rounded = Math.round(value * 10_000) / 10_000;
  return Number.isInteger(rounded) ? rounded.toFixed(1) : String(rounded);
}

/** Unsigned 64-bit, as Long.toHexString, without 0x. */
export function formatHex(value: Int64): string {
  return value >= 0 ? value.toString(16) : BigInt.asUintN(64, BigInt(value)).toString(16);
}
