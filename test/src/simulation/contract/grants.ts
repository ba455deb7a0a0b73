/**
 * Who may do what with a znode: ACLs as clients ask for them, and as they must be stored.
 *
 * Users have names, and prove who they are by a password (ZooKeeper's scheme `digest`, with SHA-1).
 * It shares no code with the server, whose ACLs it judges.
 */
import { createHash } from 'node:crypto';

export interface Grant {
  /** Bits of Perms. */
  readonly perms: number;
  /** A user, ANYONE or SELF. */
  readonly to: string;
}

/** One entry of an ACL on the wire and in a transaction. */
export interface AclEntry {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

export const ANYONE = 'anyone';
/** Stands for all users as whom the connection is known that asks. */
export const SELF = 'self';

export const USERS = ['ann', 'bob', 'eve'] as const;

/** What everybody may do everything with. */
export const OPEN_ACL: readonly AclEntry[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];

/** What a user sends to prove who it is. */
export function proofOf(user: string): string {
  return `${user}:password of ${user}`;
}

/** Of a create or a setACL; without grants, everybody may do everything. */
export function askedAcl(grants: readonly Grant[] | undefined): readonly AclEntry[] {
  if (grants === undefined) return OPEN_ACL;
  return grants.map((grant) => {
    return grant.to === SELF ? { perms: grant.perms, scheme: 'auth', id: '' } : entryOf(grant);
  });
}

/**
 * What must be stored for a connection that is known as these users. The order of the users is not
 * part of any contract.
 */
export function storedAcl(
  grants: readonly Grant[] | undefined,
  users: readonly string[],
): readonly AclEntry[] {
  if (grants === undefined) return OPEN_ACL;
  const isFirst = ({ perms, to }: Grant, at: number) =>
    grants.findIndex((other) => other.perms === perms && other.to === to) === at;
  return grants.filter(isFirst).flatMap(({ perms, to }) => {
    return to === SELF
      ? users.map((user) => entryOf({ perms, to: user }))
      : [entryOf({ perms, to })];
  });
}

/** Whether one that is known as these users has the permission, a bit of Perms. */
export function permits(acl: readonly AclEntry[], users: readonly string[], perm: number): boolean {
  return acl.some(({ perms, scheme, id }) => {
    if ((perms & perm) === 0) return false;
    return scheme === 'world' || users.some((user) => scheme === 'digest' && id === idOf(user));
  });
}

/** Also the order of the entries counts. */
export function isSameAcl(one: readonly AclEntry[], other: readonly AclEntry[]): boolean {
  if (one === other) return true;
  return (
    one.length === other.length &&
    one.every(({ perms, scheme, id }, at) => {
      const entry = other[at];
      return entry?.perms === perms && entry.scheme === scheme && entry.id === id;
    })
  );
}

/** Whatever the order of the entries. */
export function hasSameEntries(one: readonly AclEntry[], other: readonly AclEntry[]): boolean {
  if (isSameAcl(one, other)) return true;
  return textOfAcl(one) === textOfAcl(other);
}

/** The same for the same entries in another order. */
export function textOfAcl(acl: readonly AclEntry[]): string {
  return acl
    .map(({ perms, scheme, id }) => `${scheme}:${id}:${perms}`)
    .sort()
    .join(' ');
}

function entryOf({ perms, to }: Grant): AclEntry {
  if (to === ANYONE) return { perms, scheme: 'world', id: 'anyone' };
  return { perms, scheme: 'digest', id: idOf(to) };
}

function idOf(user: string): string {
  return `${user}:${createHash('sha1').update(proofOf(user)).digest('base64')}`;
}
