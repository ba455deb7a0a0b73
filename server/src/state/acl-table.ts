/**
 * Stores every distinct ACL list once and counts its uses, so that a znode keeps only a small
 * number.
 *
 * Nearly all znodes share a handful of lists, so a list is compared by its encoded bytes, which are
 * also what a checkpoint record holds: the number of entries, then perms, scheme and id of each
 * entry, little-endian, with lengths in bytes. Two lists that differ in order are different lists,
 * because clients get back what they gave. Called by Tree.
 */
import { assert } from '@rookery/protocol';
import { DamagedCheckpointError } from './damage.js';
import { Hasher } from './memory/hash.js';
import { aclListBytes } from './tree-bytes.js';
import type { Acl } from './txn.js';

interface Interned {
  readonly acl: readonly Acl[];
  readonly encoded: Buffer;
  readonly key: string;
  readonly low: number;
  readonly high: number;
  /** The permissions that the first entry of the list grants to everybody. */
  readonly worldPerms: number;
  uses: number;
}

const ACL_SEED = 0x61636c73;

export class AclTable {
  readonly #byId: (Interned | null)[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #freeIds: number[] = [];
  /** The list that was asked for last: loads and creates ask for the same one again and again. */
  #recent = -1;
  #bytes = 0;

  /** The sum of `aclListBytes` over all lists. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts one more use; `release` takes it back. */
  use(acl: readonly Acl[]): number {
    const recent = this.#byId[this.#recent];
    if (recent !== null && recent !== undefined && sameAcl(recent.acl, acl)) {
      recent.uses++;
      return this.#recent;
    }
    return this.#useEncoded(encodeAcl(acl));
  }

  /**
   * The number of bytes that one more use of the list adds to `bytes`: 0 if the list is stored
   * already.
   */
  growthFor(acl: readonly Acl[]): number {
    const recent = this.#byId[this.#recent];
    if (recent !== null && recent !== undefined && sameAcl(recent.acl, acl)) return 0;
    const encoded = encodeAcl(acl);
    return this.#byKey.has(encoded.toString('latin1')) ? 0 : aclListBytes(encoded.length);
  }

  /** Like `use`, for a list whose number is known because it is in use. */
  useAgain(id: number): number {
    this.#interned(id).uses++;
    return id;
  }

  /** Like `use`, for a list within a checkpoint record. Throws DamagedCheckpointError. */
  useEncoded(record: Buffer, start: number, end: number): number {
    const recent = this.#byId[this.#recent];
    if (recent?.encoded.compare(record, start, end) === 0) {
      recent.uses++;
      return this.#recent;
    }
    return this.#useEncoded(record.subarray(start, end));
  }

  release(id: number): void {
    const interned = this.#interned(id);
    interned.uses--;
    assert(interned.uses >= 0, 'an ACL list is released once per use');
    if (interned.uses === 0) {
      this.#byId[id] = null;
      this.#byKey.delete(interned.key);
      this.#bytes -= aclListBytes(interned.encoded.length);
      this.#freeIds.push(id);
    }
  }

  /** Each list that is in use, once: the objects that `acl` returns. */
  lists(): readonly (readonly Acl[])[] {
    return this.#byId.flatMap((interned) => (interned === null ? [] : [interned.acl]));
  }
  acl(id: number): readonly Acl[] {
    return this.#interned(id).acl;
  }
  /**
   * The bits of Perms that the first entry grants to everybody. Nearly every check needs no more.
   */
  worldPerms(id: number): number {
    return this.#interned(id).worldPerms;
  }
  encoded(id: number): Buffer {
    return this.#interned(id).encoded;
  }
  hashOf(id: number): { readonly low: number; readonly high: number } {
    return this.#interned(id);
  }

  #useEncoded(encoded: Buffer): number {
    const key = encoded.toString('latin1');
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      this.#recent = known;
      this.#interned(known).uses++;
      return known;
    }
    const acl = decodeAcl(encoded);
    const hasher = new Hasher();
    hasher.reset(ACL_SEED);
    hasher.bytes(encoded);
    hasher.finish();
    const id = this.#freeIds.pop() ?? this.#byId.length;
    const own = Buffer.from(encoded);
    const worldPerms = acl[0]?.scheme === 'world' ? acl[0].perms : 0;
    const { low, high } = hasher;
    this.#byId[id] = { acl, encoded: own, key, low, high, worldPerms, uses: 1 };
    this.#byKey.set(key, id);
    this.#bytes += aclListBytes(encoded.length);
    this.#recent = id;
    return id;
  }

  #interned(id: number): Interned {
    const interned = this.#byId[id];
    assert(interned !== null && interned !== undefined, 'an ACL id is in use');
    return interned;
  }
}

function sameAcl(a: readonly Acl[], b: readonly Acl[]): boolean {
  if (a.length !== b.length) {
    return false;
  }
  for (let i = 0; i < a.length; i++) {
    const left = a[i];
    const right = b[i];
    if (left?.perms !== right?.perms || left?.scheme !== right?.scheme || left?.id !== right?.id) {
      return false;
    }
  }
  return true;
}

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

function decodeAcl(bytes: Buffer): readonly Acl[] {
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
