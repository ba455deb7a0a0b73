/**
 * An ACL list in a form that tells what it grants to whom without going through it again.
 *
 * A list may have ten thousand entries, and one request may ask a thousand times. A list is
 * therefore parsed at the first question, and the answer for each connection's identities is kept;
 * both for as long as the two objects live. That is correct because neither is ever changed in
 * place: a setACL makes another list, an authentication other identities. Called by access.
 */
import type { Identity } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';
import { keysOfAddress, type PrefixLength, prefixOfRange } from './address-range.js';

const known = new WeakMap<readonly Acl[], AclGrants>();

/** The permissions of all entries of `acl` that match any of `identities`. */
export function permsOf(acl: readonly Acl[], identities: readonly Identity[]): number {
  let grants = known.get(acl);
  if (grants === undefined) {
    grants = new AclGrants(acl);
    known.set(acl, grants);
  }
  return grants.to(identities);
}

class AclGrants {
  #world = 0;
  /** The permissions by scheme and id, for all schemes but `ip`. */
  readonly #exact = new Map<string, Map<string, number>>();
  /** The permissions of scheme `ip`, by the key of the range. */
  readonly #ranges = new Map<string, number>();
  /** Each length of a prefix once, because an address is looked up with each length. */
  readonly #lengths = new Map<number, PrefixLength>();
  readonly #answers = new WeakMap<readonly Identity[], number>();

  constructor(acl: readonly Acl[]) {
    for (const entry of acl) this.#add(entry);
  }

  to(identities: readonly Identity[]): number {
    let perms = this.#answers.get(identities);
    if (perms === undefined) {
      perms = this.#world;
      for (const identity of identities) perms |= this.#permsOf(identity);
      this.#answers.set(identities, perms);
    }
    return perms;
  }

  #add({ scheme, id, perms }: Acl): void {
    if (scheme === 'world') {
      this.#world |= perms;
    } else if (scheme === 'ip') {
      this.#addRange(id, perms);
    } else {
      const ids = this.#exact.get(scheme) ?? new Map<string, number>();
      this.#exact.set(scheme, ids.set(id, (ids.get(id) ?? 0) | perms));
    }
  }

  #addRange(id: string, perms: number): void {
    const prefix = prefixOfRange(id);
    if (prefix === null) return;
    const { key, bits, width } = prefix;
    this.#ranges.set(key, (this.#ranges.get(key) ?? 0) | perms);
    this.#lengths.set(width * 256 + bits, { bits, width });
  }

  #permsOf({ scheme, id }: Identity): number {
    if (scheme !== 'ip') return this.#exact.get(scheme)?.get(id) ?? 0;
    let perms = 0;
    for (const key of keysOfAddress(id, this.#lengths.values())) {
      perms |= this.#ranges.get(key) ?? 0;
    }
    return perms;
  }
}
