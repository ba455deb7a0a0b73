/**
 * Checks that bytes are one whole msgpack value of the plain kinds that peers send.
 *
 * msgpackr trusts its input: it allocates arrays by the length it reads, and runs extensions. So
 * before it gets bytes from a peer, lengths, nesting and the end are checked here. Maps and
 * extensions are refused: no message has one. Values themselves are the codec's business.
 */
import { MarshallingError } from '../jute/marshalling-error.js';

const DEPTH_MAX = 6;

/** Throws MarshallingError unless `bytes` is exactly one array of plain values. */
export function checkMsgpack(bytes: Uint8Array): void {
  const end = checkValue(bytes, 0, 0);
  if (end !== bytes.length) {
    throw new MarshallingError(`${bytes.length - end} bytes after a message`);
  }
}

/** Returns the offset behind the value at `at`. */
function checkValue(bytes: Uint8Array, at: number, depth: number): number {
  const tag = byteAt(bytes, at);
  if (tag <= 0x7f || tag >= 0xe0) return at + 1;
  if (tag >= 0x90 && tag <= 0x9f) return checkArray(bytes, at + 1, tag & 0x0f, depth);
  if (tag >= 0xa0 && tag <= 0xbf) return skip(bytes, at + 1, tag & 0x1f);
  switch (tag) {
    case 0xc2:
    case 0xc3:
      return at + 1;
    case 0xc4:
    case 0xd9:
      return skip(bytes, at + 2, lengthAt(bytes, at + 1, 1));
    case 0xc5:
    case 0xda:
      return skip(bytes, at + 3, lengthAt(bytes, at + 1, 2));
    case 0xc6:
    case 0xdb:
      return skip(bytes, at + 5, lengthAt(bytes, at + 1, 4));
    case 0xcc:
    case 0xd0:
      return skip(bytes, at + 1, 1);
    case 0xcd:
    case 0xd1:
      return skip(bytes, at + 1, 2);
    case 0xca:
    case 0xce:
    case 0xd2:
      return skip(bytes, at + 1, 4);
    case 0xcb:
    case 0xcf:
    case 0xd3:
      return skip(bytes, at + 1, 8);
    case 0xdc:
      return checkArray(bytes, at + 3, lengthAt(bytes, at + 1, 2), depth);
    case 0xdd:
      return checkArray(bytes, at + 5, lengthAt(bytes, at + 1, 4), depth);
    default:
      throw new MarshallingError(`a message holds the msgpack tag 0x${tag.toString(16)}`);
  }
}

function checkArray(bytes: Uint8Array, at: number, count: number, depth: number): number {
  if (depth === DEPTH_MAX) throw new MarshallingError('a message is nested too deep');
  // Every element takes a byte at least, so the loop is bounded by the frame.
  if (count > bytes.length - at) throw new MarshallingError(`a list of ${count} is cut off`);
  let end = at;
  for (let index = 0; index < count; index++) end = checkValue(bytes, end, depth + 1);
  return end;
}

function skip(bytes: Uint8Array, at: number, length: number): number {
  if (length > bytes.length - at) throw new MarshallingError('a message is cut off');
  return at + length;
}

function lengthAt(bytes: Uint8Array, at: number, width: number): number {
  let length = 0;
  for (let index = 0; index < width; index++) length = length * 256 + byteAt(bytes, at + index);
  return length;
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new MarshallingError('a message is cut off');
  return byte;
}
