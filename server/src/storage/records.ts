/**
 * How values look in LevelDB: with a checksum of ours in every one.
 *
 * LevelDB skips a damaged record of its write-ahead log in silence and reads blocks unchecked. The
 * checksum covers the key too, so that a value cannot pass under another key.
 */
import { crc32 } from 'node:zlib';
import { assert } from '@rookery/protocol';
import type { z } from 'zod';
import { DamagedError } from './errors.js';

export const SEAL_BYTES = 4;

/** The value as it is stored under this key. */
export function seal(key: Uint8Array, payload: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(SEAL_BYTES + payload.length);
  new DataView(sealed.buffer).setUint32(0, checksum(key, payload));
  sealed.set(payload, SEAL_BYTES);
  return sealed;
}

/** As `seal`, in the SEAL_BYTES of memory right before the payload, which nobody else uses. */
export function sealInPlace(key: Uint8Array, payload: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = payload;
  assert(byteOffset >= SEAL_BYTES, 'there is room for a seal');
  const sealed = new Uint8Array(buffer, byteOffset - SEAL_BYTES, SEAL_BYTES + length);
  new DataView(buffer, sealed.byteOffset).setUint32(0, checksum(key, payload));
  return sealed;
}

/** A view of the payload, or null when the checksum says that it is not what was written. */
export function unseal(key: Uint8Array, sealed: Uint8Array): Uint8Array | null {
  if (sealed.length < SEAL_BYTES) return null;
  const payload = sealed.subarray(SEAL_BYTES);
  const stored = new DataView(sealed.buffer, sealed.byteOffset).getUint32(0);
  return stored === checksum(key, payload) ? payload : null;
}

/** For the few small records that a person may want to read: JSON. */
export function sealJson(key: Uint8Array, value: object): Uint8Array {
  return seal(key, new TextEncoder().encode(JSON.stringify(value)));
}

/** Throws DamagedError, naming `what`. */
export function unsealJson<T>(
  what: string,
  key: Uint8Array,
  sealed: Uint8Array,
  schema: z.ZodType<T>,
): T {
  const payload = unseal(key, sealed);
  if (payload === null) throw new DamagedError(`${what} has a wrong checksum`);
  const value: unknown = JSON.parse(new TextDecoder().decode(payload));
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new DamagedError(`${what} is not understood: ${parsed.error.message}`);
  return parsed.data;
}

function checksum(key: Uint8Array, payload: Uint8Array): number {
  return crc32(payload, crc32(key));
}
