/**
 * ACLs as ZooKeeper has them: how they are written, whether an entry can be right, and what they
 * would let this person do.
 */
import { sha1 } from '@noble/hashes/legacy.js';
import type { AclEntry, Rights } from '../../api/types.js';
import { base64Of } from '../../ui/bytes.js';

export const SCHEMES = ['world', 'auth', 'digest', 'ip', 'sasl', 'x509', 'super'] as const;

/** In the order in which they are shown: the frequent ones first. */
export const PERMISSIONS = [
  { letter: 'r', right: 'read', title: 'Read', tells: 'see its data and its children' },
  { letter: 'w', right: 'write', title: 'Write', tells: 'change its data' },
  { letter: 'c', right: 'create', title: 'Create', tells: 'create children' },
  { letter: 'd', right: 'delete', title: 'Delete', tells: 'delete children' },
  { letter: 'a', right: 'admin', title: 'Admin', tells: 'change this ACL' },
] as const satisfies readonly {
  readonly letter: string;
  readonly right: keyof Rights;
  readonly title: string;
  readonly tells: string;
}[];

/** As the API takes it: `scheme:id:perms`, separated by commas. */
export function aclText(acl: readonly AclEntry[]): string {
  return acl.map(({ scheme, id, perms }) => `${scheme}:${id}:${perms}`).join(',');
}

/** The id of scheme digest for `user:password`, as ZooKeeper computes it. */
export function digestId(credential: string): string {
  const user = credential.slice(0, credential.indexOf(':'));
  return `${user}:${base64Of(sha1(new TextEncoder().encode(credential)))}`;
}

/** Says what is wrong with an entry, in a sentence; null if nothing is. */
export function wrongEntry({ scheme, id, perms }: AclEntry): string | null {
  if (scheme === '' || /[:,\s]/.test(scheme)) return 'A scheme is a word.';
  if (perms === '') return 'An entry without a permission allows nothing: remove it.';
  // The API separates entries by commas, and cannot take one within an id.
  if (id.includes(',')) return 'An id with a comma cannot be sent from here.';
  if (scheme === 'world') return id === 'anyone' ? null : 'The only id of world is "anyone".';
  if (scheme === 'auth') return id === '' ? null : 'auth takes no id: it stands for who you are.';
  if (scheme === 'digest') {
    return /^[^:]+:(?:[A-Za-z0-9+/]{27}|[A-Za-z0-9+/]{43})=$/.test(id)
      ? null
      : 'A digest is user:hash, with the hash in base64 of SHA-1 or SHA-256.';
  }
  if (scheme === 'ip') {
    return /^[\da-f.:]+(\/\d{1,3})?$/i.test(id) ? null : 'An address looks like 10.0.0.0/8.';
  }
  return id === '' ? 'The id is missing.' : null;
}

/** `wrongEntry` for all of them, and that there is one at all. */
export function wrongAcl(acl: readonly AclEntry[]): string | null {
  if (acl.length === 0) return 'An ACL has at least one entry.';
  for (const entry of acl) {
    const wrong = wrongEntry(entry);
    if (wrong !== null) return wrong;
  }
  return null;
}

/**
 * What an ACL would let the holder of these `user:password` do, as far as it can be told here:
 * not for entries of other schemes, and not for a super user.
 */
export function rightsUnder(acl: readonly AclEntry[], credentials: readonly string[]): Rights {
  const mine = new Set(credentials.map(digestId));
  const letters = new Set<string>();
  for (const { scheme, id, perms } of acl) {
    const isAnyone = scheme === 'world' && id === 'anyone';
    const isMine = (scheme === 'digest' && mine.has(id)) || (scheme === 'auth' && mine.size > 0);
    if (isAnyone || isMine) for (const letter of perms) letters.add(letter);
  }
  return {
    read: letters.has('r'),
    write: letters.has('w'),
    create: letters.has('c'),
    delete: letters.has('d'),
    admin: letters.has('a'),
  };
}
