/**
 * The model's access control: what an ACL in a request becomes, what each client may do, what is
 * masked.
 *
 * Ids are the identities of a connection, its address first. These are pure functions; model and
 * tree call them.
 */
import type { Acl } from '@rookery/protocol';
import { ErrorCode, Perms } from '@rookery/protocol';
import { ACLS, type AclName, USERS, type UserName } from './operations.js';

export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

const SUPER_USER: Identity = { scheme: 'super', id: '' };
export const OWN_ADDRESS: Identity = { scheme: 'ip', id: '127.0.0.1' };

/** A super user has this identity in addition to its own. */
export function identitiesOf(user: UserName): readonly Identity[] {
  const own = { scheme: 'digest', id: USERS[user].id };
  return user === 'super' ? [SUPER_USER, own] : [own];
}

/** Returns the list as it is stored, or the error for an invalid one. */
export function storedAcl(name: AclName, ids: readonly Identity[]): readonly Acl[] | number {
  const asked = ACLS[name];
  if (asked === null || asked.length === 0) return ErrorCode.invalidAcl;
  const stored: Acl[] = [];
  for (const acl of distinct(asked)) {
    if (acl.scheme === 'auth') {
      const authenticated = ids.filter((id) => id.scheme === 'digest');
      if (authenticated.length === 0) return ErrorCode.invalidAcl;
      stored.push(...authenticated.map((id) => ({ perms: acl.perms, ...id })));
    } else if (isValid(acl)) {
      stored.push(acl);
    } else {
      return ErrorCode.invalidAcl;
    }
  }
  return stored;
}

/** Whether any of the permissions in `wanted` is granted. */
export function allows(acl: readonly Acl[], ids: readonly Identity[], wanted: number): boolean {
  if (ids.includes(SUPER_USER)) return true;
  return acl.some((entry) => (entry.perms & wanted) !== 0 && ids.some((id) => speaksOf(entry, id)));
}

/** What getACL shows: without ADMIN it hides hashes. */
export function shownAcl(acl: readonly Acl[], ids: readonly Identity[]): readonly Acl[] {
  if (allows(acl, ids, Perms.admin)) return acl;
  return acl.map((entry) =>
    entry.scheme === 'digest' ? { ...entry, id: entry.id.replace(/:.*/, ':x') } : entry,
  );
}

/** What whoAmI shows. */
export function shownIdentity({ scheme, id }: Identity) {
  const user = scheme === 'digest' ? id.replace(/:.*/, '') : id;
  return { authScheme: scheme, user };
}

function speaksOf(entry: Acl, id: Identity): boolean {
  if (entry.scheme === 'world') return true;
  if (entry.scheme !== id.scheme) return false;
  return entry.scheme === 'ip' ? isInRange(id.id, entry.id) : entry.id === id.id;
}

function isValid({ scheme, id }: Acl): boolean {
  if (scheme === 'world') return id === 'anyone';
  if (scheme === 'digest') return id.split(':').length === 2;
  return scheme === 'ip' && rangeOf(id) !== undefined;
}

function isInRange(address: string, range: string): boolean {
  const { bits = '', length = 0 } = rangeOf(range) ?? {};
  return rangeOf(address)?.bits.slice(0, length) === bits.slice(0, length);
}

/** For IPv4 only: the address as 32 digits, and how many of them count. */
function rangeOf(text: string): { readonly bits: string; readonly length: number } | undefined {
  const [address = '', length = '32'] = text.split('/');
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => part > 255) || Number(length) > 32) return;
  const bits = parts.map((part) => part.toString(2).padStart(8, '0')).join('');
  return { bits, length: Number(length) };
}

function distinct(acls: readonly Acl[]): Acl[] {
  const seen = new Map(acls.map((acl) => [JSON.stringify(acl), acl]));
  return [...seen.values()];
}
