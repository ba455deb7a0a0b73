/**
 * ACLs as ZooKeeper has them: how they are written, whether an entry can be right, and what they
 * would let this person do.
 */
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import type { AclEntry, DigestAlg, Rights } from '../../api/types.js';
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

/**
 * The values of the parameter `acl` of the API: `scheme:id:perms` for each entry. The empty one
 * beside a single entry says that commas in its id separate nothing.
 */
export function aclValues(acl: readonly AclEntry[]): readonly string[] {
  const values = acl.map(({ scheme, id, perms }) => `${scheme}:${id}:${perms}`);
  return values.length === 1 && values[0]?.includes(',') === true ? ['', ...values] : values;
}

/**
 * Whether digests are shown without their hash, as they are to whoever may not administrate. An ACL
 * of such would lock everybody out.
 */
export function isCutAcl(acl: readonly AclEntry[]): boolean {
  return acl.some(({ scheme, id }) => scheme === 'digest' && id.endsWith(':x'));
}

const HASHES: Readonly<Record<DigestAlg, (bytes: Uint8Array) => Uint8Array>> = {
  SHA1: sha1,
  SHA256: sha256,
  SHA512: sha512,
};
export const DIGEST_ALGS: readonly DigestAlg[] = ['SHA1', 'SHA256', 'SHA512'];
/** What a hash has in base64: 20, 32 and 64 bytes. */
const BASE64: Readonly<Record<DigestAlg, RegExp>> = {
  SHA1: /^[A-Za-z0-9+/]{27}=$/,
  SHA256: /^[A-Za-z0-9+/]{43}=$/,
  SHA512: /^[A-Za-z0-9+/]{86}==$/,
};

/** The id of scheme digest for `user:password`, as a server computes it that uses this hash. */
export function digestId(credential: string, alg: DigestAlg): string {
  const user = credential.slice(0, credential.indexOf(':'));
  return `${user}:${base64Of(HASHES[alg](new TextEncoder().encode(credential)))}`;
}

/**
 * The hash of digests that are there already, for a server that does not tell which one it takes;
 * SHA-1, as ZooKeeper has it by default, where there are none.
 */
export function likelyAlg(acl: readonly AclEntry[]): DigestAlg {
  const there = new Set(acl.map(({ scheme, id }) => (scheme === 'digest' ? algOf(id) : null)));
  // An ACL with digests of several hashes is from the time of a change to the stronger one.
  return DIGEST_ALGS.toReversed().find((alg) => there.has(alg)) ?? 'SHA1';
}

/** The hash that made the id of a digest; null if it has the form of none. */
function algOf(id: string): DigestAlg | null {
  const [user, hash = '', more] = id.split(':');
  if (user === '' || more !== undefined) return null;
  return DIGEST_ALGS.find((alg) => BASE64[alg].test(hash)) ?? null;
}

/**
 * Says what is wrong with an entry, in a sentence; null if nothing is. `before` is the ACL as the
 * server has it: ids that are in it are not judged, because servers take those of other forms, too.
 */
export function wrongEntry(entry: AclEntry, before: readonly AclEntry[] = []): string | null {
  const { scheme, id, perms } = entry;
  if (perms === '') return 'An entry without a permission allows nothing: remove it.';
  if (before.some((one) => one.scheme === scheme && one.id === id)) return null;
  if (scheme === '' || /[:,\s]/.test(scheme)) return 'A scheme is a word.';
  if (scheme === 'world') return id === 'anyone' ? null : 'The only id of world is "anyone".';
  if (scheme === 'auth') return id === '' ? null : 'auth takes no id: it stands for who you are.';
  if (scheme === 'digest') {
    return algOf(id) !== null
      ? null
      : 'A digest is user:hash, with the hash in base64 of SHA-1, SHA-256 or SHA-512.';
  }
  if (scheme === 'ip') {
    return /^[\da-f.:]+(\/\d{1,3})?$/i.test(id) ? null : 'An address looks like 10.0.0.0/8.';
  }
  return id === '' ? 'The id is missing.' : null;
}

/** `wrongEntry` for all of them, and that there is one at all. */
export function wrongAcl(
  acl: readonly AclEntry[],
  before: readonly AclEntry[] = [],
): string | null {
  if (acl.length === 0) return 'An ACL has at least one entry.';
  for (const entry of acl) {
    const wrong = wrongEntry(entry, before);
    if (wrong !== null) return wrong;
  }
  return null;
}

/**
 * What an ACL would let the holder of these `user:password` do on a server that proves digests by
 * these hashes, as far as it can be told here: not for entries of other schemes, and not for a
 * super user.
 */
export function rightsUnder(
  acl: readonly AclEntry[],
  credentials: readonly string[],
  algs: readonly DigestAlg[],
): Rights {
  const mine = new Set(algs.flatMap((alg) => credentials.map((one) => digestId(one, alg))));
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
