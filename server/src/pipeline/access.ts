/**
 * Decides whether an ACL list allows a client something.
 *
 * Any common bit of the requested permissions is enough, as in ZooKeeper. The super user, and every
 * client of a member with `skipACL`, passes everything. It decides nothing else: which permission
 * an operation needs is stated where the operation is decided (prepare-op, read, apply).
 */
import type { Identity } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';
import { isAnswerKept, permsOf } from './acl-grants.js';

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
