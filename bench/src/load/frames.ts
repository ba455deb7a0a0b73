/**
 * Requests that are encoded once and copied: a template's xid and the digits of its paths are
 * patched in place.
 *
 * `frameOf` encodes with the protocol's codecs; after that, a request costs a copy and a few bytes.
 * Digits are found by their placeholder in the template, never by offsets counted by hand.
 */
import { type Codec, JuteWriter, RequestHeader } from '@rookery/protocol';

/** In a frame the length comes first, then the xid. */
export const XID_OFFSET = 4;
const ASCII_0 = 48;
/** Up to this size, a loop is faster than a call into the runtime. */
export const SHORT_BYTES = 128;

export const WORLD = [{ perms: 31, scheme: 'world', id: 'anyone' }];
/** The header of a reply, without its length: xid, zxid, error. */
export const REPLY_HEADER_BYTES = 16;

export interface Place {
  readonly target: Buffer;
  readonly offset: number;
  readonly xid: number;
}

/** One request as a frame of its own: for requests that are not repeated, and as a template. */
export function frameOf<T>(type: number, codec: Codec<T>, value: T): Buffer {
  const writer = new JuteWriter();
  writer.beginFrame();
  RequestHeader.write(writer, { xid: 0, type });
  codec.write(writer, value);
  writer.endFrame();
  return Buffer.from(writer.take());
}

export function copyFrame(frame: Buffer, { target, offset, xid }: Place): number {
  const bytes = frame.length;
  if (bytes > SHORT_BYTES) target.set(frame, offset);
  else for (let at = 0; at < bytes; at++) target[offset + at] = frame[at] ?? 0;
  target[offset + XID_OFFSET] = xid >>> 24;
  target[offset + XID_OFFSET + 1] = xid >>> 16;
  target[offset + XID_OFFSET + 2] = xid >>> 8;
  target[offset + XID_OFFSET + 3] = xid;
  return bytes;
}

/** Copies a few bytes, four at a time. */
export function copyShort(from: DataView, to: DataView, offset: number): void {
  const bytes = from.byteLength;
  let at = 0;
  for (; at + 4 <= bytes; at += 4) to.setInt32(offset + at, from.getInt32(at, true), true);
  for (; at < bytes; at++) to.setUint8(offset + at, from.getUint8(at));
}

/** Where each occurrence of a placeholder begins; there must be exactly `count`. */
export function placesOf(frame: Buffer, placeholder: string, count: number): readonly number[] {
  const places: number[] = [];
  let at = frame.indexOf(placeholder);
  while (at !== -1) {
    places.push(at);
    at = frame.indexOf(placeholder, at + 1);
  }
  if (places.length === count) return places;
  throw new Error(`${placeholder} is in the template ${places.length} times, not ${count}`);
}

const FOUR_DIGITS = Int32Array.from({ length: 10_000 }, (_, value) => {
  return Buffer.from(String(value).padStart(4, '0')).readInt32BE();
});

/** A number below 10,000 as four ASCII digits, the first one in the highest byte. */
export function fourDigits(value: number): number {
  return FOUR_DIGITS[value] ?? 0;
}

/** Writes the last `digits` decimal digits of `value`. */
export function patchDigits(target: Buffer, at: number, digits: number, value: number): void {
  let rest = value;
  for (let digit = digits - 1; digit >= 0; digit--) {
    const tenth = Math.floor(rest / 10);
    target[at + digit] = ASCII_0 + rest - tenth * 10;
    rest = tenth;
  }
}
