/**
 * An ACL list in a form that tells what it grants to whom without going through it again.
 *
 * A list may have ten thousand entries, and one request may ask a thousand times. A list is
 * therefore parsed at the first question; the result is kept as long as the list lives. Answers are
 * kept, too, because one may need a lookup for each length of a prefix. Both are correct because
 * neither object is ever changed in place: a setACL makes another list, an authentication other
 * identities. There may be a hundred thousand lists and thousands of connections, so all answers
 * are forgotten when they are too many, and none keeps anybody's identities. Called by access.
 */
import type { Identity } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';
import { keysOfAddress, type Prefix, type PrefixLength, prefixOfRange } from './address-range.js';

/** The most answers that are kept. One takes some hundred bytes at most. */
const ANSWERS_MAX = 16_384;

const known = new WeakMap<readonly Acl[], AclGrants>();
let answers = new WeakMap<readonly Identity[], WeakMap<AclGrants, number>>();
let answerCount = 0;

/** The permissions of all entries of `acl` that match any of `identities`. */
export function permsOf(acl: readonly Acl[], identities: readonly Identity[]): number {
  let grants = known.get(acl);
  if (grants === undefined) {
    grants = new AclGrants(acl);
    known.set(acl, grants);
  }
  const perms = answers.get(identities)?.get(grants);
  return perms ?? keptAnswer(grants, identities);
}

/** Whether `permsOf` has the answer already. */
export function isAnswerKept(acl: readonly Acl[], identities: readonly Identity[]): boolean {
  const grants = known.get(acl);
  return grants !== undefined && answers.get(identities)?.has(grants) === true;
}

function keptAnswer(grants: AclGrants, identities: readonly Identity[]): number {
  if (answerCount === ANSWERS_MAX) {
    answers = new WeakMap();
    answerCount = 0;
  }
  const perms = grants.to(identities);
  const own = answers.get(identities) ?? new WeakMap<AclGrants, number>();
  answers.set(identities, own.set(grants, perms));
  answerCount += 1;
  return perms;
}

/** Most lists are short, so a map is made when there is something to put into it. */
class AclGrants {
  #world = 0;
  /** The permissions by scheme and id, for all schemes but `ip`. */
  #exact: Map<string, Map<string, number>> | null = null;
  #ranges: GrantsOfRanges | null = null;

  constructor(acl: readonly Acl[]) {
    for (const entry of acl) this.#add(entry);
  }

  to(identities: readonly Identity[]): number {
    let perms = this.#world;
    for (const identity of identities) perms |= this.#permsOf(identity);
    return perms;
  }

  #add({ scheme, id, perms }: Acl): void {
    if (scheme === 'world') {
      this.#world |= perms;
    } else if (scheme === 'ip') {
      const prefix = prefixOfRange(id);
      if (prefix === null) return;
      this.#ranges ??= new GrantsOfRanges();
      this.#ranges.add(prefix, perms);
    } else {
      this.#exact ??= new Map();
      const ids = this.#exact.get(scheme) ?? new Map<string, number>();
      this.#exact.set(scheme, ids.set(id, (ids.get(id) ?? 0) | perms));
    }
  }

  #permsOf({ scheme, id }: Identity): number {
    if (scheme === 'ip') return this.#ranges?.permsOf(id) ?? 0;
    return this.#exact?.get(scheme)?.get(id) ?? 0;
  }
}

/** What ranges of addresses are granted. */
class GrantsOfRanges {
  readonly #perms = new Map<string, number>();
  /** Each length of a prefix once, because an address is looked up with each length. */
  readonly #lengths: PrefixLength[] = [];

  add({ key, bits, width }: Prefix, perms: number): void {
    this.#perms.set(key, (this.#perms.get(key) ?? 0) | perms);
    const isKnown = this.#lengths.some((length) => length.bits === bits && length.width === width);
    if (!isKnown) this.#lengths.push({ bits, width });
  }

  permsOf(address: string): number {
    let perms = 0;
    for (const key of keysOfAddress(address, this.#lengths)) perms |= this.#perms.get(key) ?? 0;
    return perms;
  }
}
