/**
 * What members' own records may not lack: jute allows null and negative numbers, these do not.
 *
 * Each throws MarshallingError and says `what` was read. Called by the codecs of transactions and
 * of forwarded requests.
 */
import { MarshallingError } from './marshalling-error.js';
import type { JuteReader } from './reader.js';

const LONG_BYTES = 8;
/** The upper half of the greatest safe integer. */
const HIGH_MAX = (1 << 21) - 1;

export function requiredString(reader: JuteReader, what: string): string {
  const text = reader.string();
  if (text === null) throw new MarshallingError(`a string of ${what} is null`);
  return text;
}

/** The number of elements of a vector. */
export function requiredCount(reader: JuteReader, what: string): number {
  const count = reader.count();
  if (count < 0) throw new MarshallingError(`a list of ${what} is null`);
  return count;
}

/** An int that is not negative. */
export function requiredCardinal(reader: JuteReader, what: string): number {
  const value = reader.int();
  if (value < 0) throw new MarshallingError(`${value} in ${what} is negative`);
  return value;
}

/** A long that is a whole number, not negative, and safe. */
export function requiredNatural(reader: JuteReader, what: string): number {
  reader.skip(LONG_BYTES);
  return naturalAt(reader.view, reader.position - LONG_BYTES, what);
}

/** Like `requiredNatural`, at an index after which the view has eight bytes, as was checked. */
export function naturalAt(view: DataView, at: number, what: string): number {
  const high = view.getInt32(at);
  if (high >>> 0 > HIGH_MAX) {
    throw new MarshallingError(`a number in ${what} is negative, or too large`);
  }
  return high * 0x1_0000_0000 + view.getUint32(at + 4);
}
