/**
 * Whether the ACL list of a request has a legal form, and what is stored of it.
 *
 * The scheme `auth` stands for the authenticated ids of the connection and is replaced by them; the
 * order is otherwise the request's. Duplicates go. Called by prepare-op.
 */
import type { Acl } from '../state/txn.js';
import type { Identities } from './access.js';
import { isAddressRange } from './address-range.js';

/** What is stored, or null when the list is invalid (-114). */
export function legalAcl(
  requested: readonly Acl[] | null,
  identities: Identities,
): readonly Acl[] | null {
  if (requested === null || requested.length === 0) return null;
  const stored: Acl[] = [];
  for (const acl of requested) {
    if (acl.scheme === 'auth') {
      const own = identities.filter(isAuthenticated);
      if (own.length === 0) return null;
      for (const { scheme, id } of own) addOnce(stored, { perms: acl.perms, scheme, id });
    } else if (isLegal(acl)) {
      addOnce(stored, acl);
    } else {
      return null;
    }
  }
  return stored;
}

/** By what it proved: neither an address nor being the super user is something it can own by. */
function isAuthenticated({ scheme }: { readonly scheme: string }): boolean {
  return scheme === 'digest';
}

function addOnce(list: Acl[], acl: Acl): void {
  if (!list.some((other) => same(acl, other))) list.push(acl);
}

function same(one: Acl, other: Acl): boolean {
  return one.perms === other.perms && one.scheme === other.scheme && one.id === other.id;
}

function isLegal(acl: Acl): boolean {
  switch (acl.scheme) {
    case 'world':
      return acl.id === 'anyone';
    case 'digest':
      return isDigestId(acl.id);
    case 'ip':
      return isAddressRange(acl.id);
    default:
      return false;
  }
}

/** `user:digest`. ZooKeeper splits as Java does, which ignores colons at the end. */
function isDigestId(id: string): boolean {
  return id.replace(/:+$/, '').split(':').length === 2;
}
