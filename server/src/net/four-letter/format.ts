/**
 * How the four-letter words print numbers, as Java does.
 */
import type { Int64 } from '@rookery/protocol';

/** At most four decimals and at least one: 0.0, 1.8072. */
export function formatDecimal(value: number): string {
  const rounded = Math.round(value * 10_000) / 10_000;
  return Number.isInteger(rounded) ? rounded.toFixed(1) : String(rounded);
}

/** An unsigned 64-bit number, like Long.toHexString, without 0x. */
export function formatHex(value: Int64): string {
  return value >= 0 ? value.toString(16) : BigInt.asUintN(64, BigInt(value)).toString(16);
}

/** The same with 0x, as JSON and logs have zxids and session ids. */
export function prefixedHex(value: Int64): string {
  return `0x${formatHex(value)}`;
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = [
  ...['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'],
  ...['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
];

/** Like Date.toString of Java, in UTC: Fri Nov 20 10:49:22 UTC 2026. */
export function formatDate(wallMs: number): string {
  const date = new Date(wallMs);
  const day = `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]}`;
  const time = date.toISOString().slice(11, 19);
  return `${day} ${String(date.getUTCDate()).padStart(2, '0')} ${time} UTC ${date.getUTCFullYear()}`;
}
