/**
 * Defines a session, as every replica knows it, and encodes it for a checkpoint.
 *
 * The key is 's' and the id as 8 bytes big-endian; the value is the timeout as a little-endian
 * float64 and the 16 bytes of the password, and one byte more for a session that is closing.
 */
import { bufferOf, PASSWORD_BYTES } from '@rookery/protocol';
import { DamagedCheckpointError } from './damage.js';
import type { SessionId } from './txn.js';

export interface Session extends OpenedSession {
  /** The session's end is decided and its ephemerals are being deleted: it does nothing more. */
  readonly isClosing: boolean;
}

/** What a session is given when it is created, which never changes. */
export interface OpenedSession {
  readonly timeoutMs: number;
  /** Has PASSWORD_BYTES bytes. */
  readonly password: Uint8Array;
}

export const SESSION_KEY = 0x73;

const KEY_BYTES = 9;
const VALUE_BYTES = 8 + PASSWORD_BYTES;
/** Follows the value of a session that is closing. */
const CLOSING_MARK = 1;

export function sessionKey(id: SessionId): Uint8Array {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key[0] = SESSION_KEY;
  key.writeUInt32BE(Math.floor(id / 0x1_0000_0000), 1);
  key.writeUInt32BE(id >>> 0, 5);
  return key;
}

export function encodeSession(session: Session): Uint8Array {
  const value = Buffer.alloc(session.isClosing ? VALUE_BYTES + 1 : VALUE_BYTES, CLOSING_MARK);
  value.writeDoubleLE(session.timeoutMs, 0);
  value.set(session.password, 8);
  return value;
}

/** Throws DamagedCheckpointError. */
export function decodeSession(
  key: Uint8Array,
  value: Uint8Array,
): { readonly id: SessionId; readonly session: Session } {
  const isClosing = value.length === VALUE_BYTES + 1 && value[VALUE_BYTES] === CLOSING_MARK;
  if (key.length !== KEY_BYTES || (value.length !== VALUE_BYTES && !isClosing)) {
    throw new DamagedCheckpointError(`a session record has ${key.length}+${value.length} bytes`);
  }
  const keyBytes = bufferOf(key);
  const id = keyBytes.readUInt32BE(1) * 0x1_0000_0000 + keyBytes.readUInt32BE(5);
  const timeoutMs = bufferOf(value).readDoubleLE(0);
  if (!Number.isSafeInteger(id) || id <= 0 || !Number.isSafeInteger(timeoutMs)) {
    throw new DamagedCheckpointError(`a session record has id ${id}, timeout ${timeoutMs}`);
  }
  const password = Uint8Array.from(value.subarray(8, VALUE_BYTES));
  return { id, session: { timeoutMs, password, isClosing } };
}
