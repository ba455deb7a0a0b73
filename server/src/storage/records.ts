/**
 * Encodes and checks values in LevelDB: a checksum of our own, then the payload.
 *
 * LevelDB silently skips a damaged record of its write-ahead log and reads blocks without checks.
 * The checksum covers the key, too, so a value is not valid under another key. In the place of a
 * large value there may be a reference to a file (value-files.ts). A constant is mixed into the
 * checksum of a reference, so it never passes for a value, nor a value for a reference.
 */
import { crc32 } from 'node:zlib';
import { assert } from '@rookery/protocol';
import type { z } from 'zod';
import { DamagedError } from './errors.js';
import type { Location } from './value-files.js';

export const CHECKSUM_BYTES = 4;

/** Returns the payload as it is stored under this key. */
export function addChecksum(key: Uint8Array, payload: Uint8Array): Uint8Array {
  const stored = new Uint8Array(CHECKSUM_BYTES + payload.length);
  new DataView(stored.buffer).setUint32(0, checksum(key, payload));
  stored.set(payload, CHECKSUM_BYTES);
  return stored;
}

/** The same without a copy: uses the CHECKSUM_BYTES of memory before the payload. */
export function addChecksumInPlace(key: Uint8Array, payload: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = payload;
  assert(byteOffset >= CHECKSUM_BYTES, 'there is room for a checksum');
  const stored = new Uint8Array(buffer, byteOffset - CHECKSUM_BYTES, CHECKSUM_BYTES + length);
  new DataView(buffer, stored.byteOffset).setUint32(0, checksum(key, payload));
  return stored;
}

/** Returns a view of the payload, or null if the checksum does not match. */
export function verifiedPayload(key: Uint8Array, stored: Uint8Array): Uint8Array | null {
  if (stored.length < CHECKSUM_BYTES) return null;
  const payload = stored.subarray(CHECKSUM_BYTES);
  const written = new DataView(stored.buffer, stored.byteOffset).getUint32(0);
  return written === checksum(key, payload) ? payload : null;
}

/** Stores JSON, for the few small records that a person may want to read. */
export function jsonWithChecksum(key: Uint8Array, value: object): Uint8Array {
  return addChecksum(key, new TextEncoder().encode(JSON.stringify(value)));
}

/** Reads JSON. Throws DamagedError with the name `what`. */
export function verifiedJson<T>(
  what: string,
  key: Uint8Array,
  stored: Uint8Array,
  schema: z.ZodType<T>,
): T {
  const payload = verifiedPayload(key, stored);
  if (payload === null) throw new DamagedError(`${what} has a wrong checksum`);
  const value: unknown = JSON.parse(new TextDecoder().decode(payload));
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new DamagedError(`${what} is not understood: ${parsed.error.message}`);
  return parsed.data;
}

const REFERENCE_BYTES = CHECKSUM_BYTES + 12;
/** Mixed into the checksum of a reference by XOR: "VALU" in ASCII. */
const REFERENCE_MARK = 0x56414c55;

/** Returns what is stored under this key while its value is in a file. */
export function referenceTo(key: Uint8Array, { file, offset, length }: Location): Uint8Array {
  const stored = new Uint8Array(REFERENCE_BYTES);
  const view = new DataView(stored.buffer);
  view.setUint32(4, file);
  view.setUint32(8, offset);
  view.setUint32(12, length);
  view.setUint32(0, markedChecksum(key, stored));
  return stored;
}

/** Returns where the value is; null if what is stored is no sound reference. */
export function readReference(key: Uint8Array, stored: Uint8Array): Location | null {
  if (stored.length !== REFERENCE_BYTES) return null;
  const view = new DataView(stored.buffer, stored.byteOffset);
  if (view.getUint32(0) !== markedChecksum(key, stored)) return null;
  return { file: view.getUint32(4), offset: view.getUint32(8), length: view.getUint32(12) };
}

function markedChecksum(key: Uint8Array, reference: Uint8Array): number {
  return (checksum(key, reference.subarray(CHECKSUM_BYTES)) ^ REFERENCE_MARK) >>> 0;
}

function checksum(key: Uint8Array, payload: Uint8Array): number {
  return crc32(payload, crc32(key));
}
