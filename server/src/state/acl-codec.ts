/**
 * Encodes and decodes an ACL list as a checkpoint record stores it: the number of entries, then
 * perms, scheme and id of each entry, little-endian, with lengths in bytes. Equal lists have equal
 * bytes. Called by AclTable.
 */
import { DamagedCheckpointError } from './damage.js';
import type { Acl } from './txn.js';

export function encodeAcl(acl: readonly Acl[]): Buffer {
  let size = 4;
  for (const { scheme, id } of acl) {
    size += 12 + Buffer.byteLength(scheme) + Buffer.byteLength(id);
  }
  const bytes = Buffer.alloc(size);
  let at = bytes.writeUInt32LE(acl.length, 0);
  for (const { perms, scheme, id } of acl) {
    at = bytes.writeInt32LE(perms, at);
    for (const text of [scheme, id]) {
      at = bytes.writeUInt32LE(Buffer.byteLength(text), at);
      at += bytes.write(text, at);
    }
  }
  return bytes;
}

export function decodeAcl(bytes: Buffer): readonly Acl[] {
  let at = 0;
  const need = (count: number): number => {
    if (count > bytes.length - at) {
      throw new DamagedCheckpointError(`an ACL list ends early, at byte ${at}`);
    }
    at += count;
    return at - count;
  };
  const text = (): string => {
    const length = bytes.readUInt32LE(need(4));
    const start = need(length);
    return bytes.toString('utf8', start, start + length);
  };
  const acl: Acl[] = [];
  const count = bytes.readUInt32LE(need(4));
  for (let i = 0; i < count; i++) {
    acl.push({ perms: bytes.readInt32LE(need(4)), scheme: text(), id: text() });
  }
  if (at !== bytes.length) {
    throw new DamagedCheckpointError(`an ACL list has ${bytes.length - at} bytes too many`);
  }
  return acl;
}
