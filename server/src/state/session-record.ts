/**
 * The bytes of a session in a checkpoint: key 's' + id as 8 bytes big-endian, value the timeout as
 * a little-endian float64 and the 16 bytes of the password.
 */
import { bufferOf } from '@rookery/protocol';
import { DamagedCheckpointError } from './damage.js';
import { PASSWORD_BYTES, type Session } from './session.js';
import type { SessionId } from './txn.js';

export const SESSION_KEY = 0x73;

const KEY_BYTES = 9;
const VALUE_BYTES = 8 + PASSWORD_BYTES;

export function sessionKey(id: SessionId): Uint8Array {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key[0] = SESSION_KEY;
  key.writeUInt32BE(Math.floor(id / 0x1_0000_0000), 1);
  key.writeUInt32BE(id >>> 0, 5);
  return key;
}

export function encodeSession(session: Session): Uint8Array {
  const value = Buffer.allocUnsafe(VALUE_BYTES);
  value.writeDoubleLE(session.timeoutMs, 0);
  value.set(session.password, 8);
  return value;
}

/** Throws DamagedCheckpointError. */
export function decodeSession(
  key: Uint8Array,
  value: Uint8Array,
): { readonly id: SessionId; readonly session: Session } {
  if (key.length !== KEY_BYTES || value.length !== VALUE_BYTES) {
    throw new DamagedCheckpointError(`a session record has ${key.length}+${value.length} bytes`);
  }
  const keyBytes = bufferOf(key);
  const id = keyBytes.readUInt32BE(1) * 0x1_0000_0000 + keyBytes.readUInt32BE(5);
  const timeoutMs = bufferOf(value).readDoubleLE(0);
  if (!Number.isSafeInteger(id) || id <= 0 || !Number.isSafeInteger(timeoutMs)) {
    throw new DamagedCheckpointError(`a session record has id ${id}, timeout ${timeoutMs}`);
  }
  return { id, session: { timeoutMs, password: Uint8Array.from(value.subarray(8)) } };
}
