/**
 * Whether an ACL list lets somebody do something.
 *
 * Any common bit of the permissions asked for is enough, as in ZooKeeper. The super user and a
 * member with `skipACL` pass everything. Decides nothing else: which permission an operation needs
 * is said where it is decided (prepare-op, read, apply).
 */
import type { Identity } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';
import { inAddressRange } from './address-range.js';

/** What a connection is known to be; shared and never changed in place. */
export type Identities = readonly Identity[];

/** Who asks, and whether this member checks ACLs at all. */
export interface Requester {
  readonly identities: Identities;
  /** The operator has switched all checks off. */
  readonly skipAcl: boolean;
}

/** The scheme of an identity that may do everything; its id is ''. */
export const SUPER_SCHEME = 'super';

/** True when `requester` has at least one of `perms` (bits of Perms). */
export function mayDo(requester: Requester, acl: readonly Acl[], perms: number): boolean {
  return requester.skipAcl || permits(acl, perms, requester.identities);
}

function permits(acl: readonly Acl[], perms: number, identities: Identities): boolean {
  for (const entry of acl) {
    if ((entry.perms & perms) === 0) continue;
    if (entry.scheme === 'world') return true;
    for (const identity of identities) if (matches(entry, identity)) return true;
  }
  return identities.some(({ scheme }) => scheme === SUPER_SCHEME);
}

function matches(entry: Acl, identity: Identity): boolean {
  if (entry.scheme !== identity.scheme) return false;
  if (entry.scheme === 'ip') return inAddressRange(identity.id, entry.id);
  return entry.id === identity.id;
}
