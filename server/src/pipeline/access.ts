/**
 * Decides whether an ACL list allows a client something.
 *
 * Any common bit of the requested permissions is enough, as in ZooKeeper. The super user, and every
 * client of a member with `skipACL`, passes everything. It decides nothing else: which permission
 * an operation needs is stated where the operation is decided (prepare-op, read, apply).
 */
import { type Identity, Perms } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';
import { keysOfAddress, type Prefix, type PrefixLength, prefixOfRange } from './address-range.js';

/** What a connection is known to be; shared and never changed in place. */
export type Identities = readonly Identity[];

/** The client that asks, and whether this member checks ACLs at all. */
export interface Requester {
  readonly identities: Identities;
  /** The operator has switched off all checks. */
  readonly skipAcl: boolean;
  /**
   * The address of the operator for whom the admin port asks. It is for the audit log: behind a
   * proxy it says nothing of the caller, so it is no identity. Absent for all other clients.
   */
  readonly operatorAddress?: string | undefined;
}

/** The scheme of an identity that may do everything; its id is ''. */
export const SUPER_SCHEME = 'super';

const SIMPLE_ENTRIES_MAX = 4;

/** Returns true if `requester` has at least one of `perms` (bits of Perms). */
export function mayDo(requester: Requester, acl: readonly Acl[], perms: number): boolean {
  return requester.skipAcl || permits(acl, perms, requester.identities);
}

/**
 * How many entries of a long list `mayDo` goes through, at most. It is 0 for a short list, whose
 * length therefore does not show in what depends on this number, and for a list that was judged
 * for the same client before.
 */
export function entriesToJudge({ identities }: Requester, acl: readonly Acl[]): number {
  if (acl.length <= SIMPLE_ENTRIES_MAX || isAnswerKept(acl, identities)) return 0;
  return acl.length;
}

function permits(acl: readonly Acl[], perms: number, identities: Identities): boolean {
  // Nearly every check is decided by what the world may do.
  const first = acl[0];
  if (first?.scheme === 'world' && (first.perms & perms) !== 0) return true;
  const granted = isSimple(acl) ? permsOfSimple(acl, identities) : permsOf(acl, identities);
  if ((granted & perms) !== 0) return true;
  return identities.some(({ scheme }) => scheme === SUPER_SCHEME);
}

/** Scanning such a list is faster than looking it up, and needs no parsing. */
function isSimple(acl: readonly Acl[]): boolean {
  if (acl.length > SIMPLE_ENTRIES_MAX) return false;
  for (const { scheme } of acl) if (scheme === 'ip') return false;
  return true;
}

function permsOfSimple(acl: readonly Acl[], identities: Identities): number {
  let granted = 0;
  for (const entry of acl) {
    if (entry.scheme === 'world' || isNamed(entry, identities)) granted |= entry.perms;
  }
  return granted;
}

function isNamed(entry: Acl, identities: Identities): boolean {
  for (const { scheme, id } of identities) {
    if (scheme === entry.scheme && id === entry.id) return true;
  }
  return false;
}

/** The most answers that are kept. One takes some hundred bytes at most. */
const ANSWERS_MAX = 16_384;

const known = new WeakMap<readonly Acl[], AclGrants>();
let answers = new WeakMap<readonly Identity[], WeakMap<AclGrants, number>>();
let answerCount = 0;

/**
 * An ACL list in a form that tells what it grants to whom without going through it again.
 *
 * A list may have ten thousand entries, and one request may ask a thousand times. A list is
 * therefore parsed at the first question; the result is kept as long as the list lives. Answers are
 * kept, too, because one may need a lookup for each length of a prefix. Both are correct because
 * neither object is ever changed in place: a setACL makes another list, an authentication other
 * identities. There may be a hundred thousand lists and thousands of connections, so all answers
 * are forgotten when they are too many, and none keeps anybody's identities.
 *
 * The permissions of all entries of `acl` that match any of `identities`.
 */
function permsOf(acl: readonly Acl[], identities: readonly Identity[]): number {
  let grants = known.get(acl);
  if (grants === undefined) {
    grants = new AclGrants(acl);
    known.set(acl, grants);
  }
  const perms = answers.get(identities)?.get(grants);
  return perms ?? keptAnswer(grants, identities);
}

/** Whether `permsOf` has the answer already. */
function isAnswerKept(acl: readonly Acl[], identities: readonly Identity[]): boolean {
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

const CHANGES = Perms.create | Perms.delete | Perms.write | Perms.admin;

/**
 * The permissions to change something that an ACL gives to every client that reaches the port; 0
 * for none. Every client is `world:anyone`, and in an `ip` range that has every address. Reading is
 * no change.
 */
export function changesByEverybody(acl: readonly Acl[]): number {
  return acl.filter(isEverybody).reduce((all, { perms }) => all | perms, 0) & CHANGES;
}

function isEverybody({ scheme, id }: Acl): boolean {
  if (scheme === 'world') return true;
  return scheme === 'ip' && /\/0+$/.test(id);
}
