/**
 * Decides whether the ACL list of a request has a legal form, and what is stored of it.
 *
 * The request loses its duplicates. Then the scheme `auth`, which stands for the authenticated ids
 * of the connection, is replaced by them. Otherwise the order is the request's. What is stored has
 * a bound, so that the answer of getACL is always one that a client takes. Called by prepare-op.
 */
import { isAlternativeName } from '../security/x509-name.js';
import type { Acl } from '../state/txn.js';
import type { Identities } from './access.js';
import { isAddressRange } from './address-range.js';
import { withoutFormerDigests } from './former-digests.js';
import { IDENTITY_BYTES_MAX } from './identities.js';

/**
 * The bound of a stored list: at most three bytes for each character, and so below ZooKeeper's
 * limit of a frame. Without it, a request of many `auth` with different permissions could grow a
 * hundredfold.
 */
const STORED_SIZE_MAX = 256 << 10;
/** No connection can prove a longer identity. Checked before anything of an id is judged. */
const ID_CHARS_MAX = IDENTITY_BYTES_MAX;
/** The size of an entry besides its two strings. */
const ENTRY_BYTES = 12;

/**
 * What ACLs may name only where clients can prove it. `x509` stands for subjects of certificates;
 * the other two for URIs and DNS names in them, whose scheme is x509, too.
 */
export type ProvenScheme = 'sasl' | 'x509' | 'x509-san-uri' | 'x509-san-dns';

const NO_SCHEMES: ReadonlySet<ProvenScheme> = new Set();

/**
 * Returns what is stored, or null if the list is invalid (-114). Nobody can prove to be a user of
 * the schemes x509 and sasl where they are not configured, so they count only if `schemes` has
 * them.
 */
export function legalAcl(
  requested: readonly Acl[] | null,
  identities: Identities,
  schemes: ReadonlySet<ProvenScheme> = NO_SCHEMES,
): readonly Acl[] | null {
  if (requested === null || requested.length === 0) return null;
  // Nearly every create has only the world in its list.
  if (requested.length === 1 && requested.every(isWorld)) return requested;
  const stored: Acl[] = [];
  const own = withoutFormerDigests(identities).filter(isAuthenticated);
  let size = 0;
  for (const acl of withoutDuplicates(requested)) {
    if (acl.id.length > ID_CHARS_MAX) return null;
    const meant = acl.scheme === 'auth' ? own.map((id) => ({ perms: acl.perms, ...id })) : [acl];
    if (meant.length === 0 || (acl.scheme !== 'auth' && !isLegal(acl, schemes))) return null;
    for (const { scheme, id } of meant) size += entryBytes(scheme, id);
    if (size > STORED_SIZE_MAX) return null;
    stored.push(...meant);
  }
  return stored;
}

/** The size of the list as it is stored, in bytes. */
export function sizeOfAcl(acl: readonly Acl[]): number {
  let size = 0;
  for (const { scheme, id } of acl) size += entryBytes(scheme, id);
  return size;
}

function entryBytes(scheme: string, id: string): number {
  return ENTRY_BYTES + Buffer.byteLength(scheme) + Buffer.byteLength(id);
}

/**
 * Counts only what the client proved: neither an address nor being the super user can own a znode.
 */
function isAuthenticated({ scheme }: { readonly scheme: string }): boolean {
  return scheme === 'digest' || scheme === 'x509' || scheme === 'sasl';
}

function withoutDuplicates(acls: readonly Acl[]): Iterable<Acl> {
  if (acls.length === 1) return acls;
  return new Map(acls.map((acl) => [keyOf(acl), acl])).values();
}

function keyOf({ perms, scheme, id }: Acl): string {
  return `${perms} ${scheme.length} ${scheme} ${id}`;
}

function isWorld(acl: Acl): boolean {
  return acl.scheme === 'world' && acl.id === 'anyone';
}

function isLegal(acl: Acl, schemes: ReadonlySet<ProvenScheme>): boolean {
  switch (acl.scheme) {
    case 'world':
      return isWorld(acl);
    case 'digest':
      return isDigestId(acl.id);
    case 'ip':
      return isAddressRange(acl.id);
    case 'x509':
      return isCertificateName(acl.id, schemes);
    case 'sasl':
      return schemes.has('sasl') && isSaslUser(acl.id);
    default:
      return false;
  }
}

function isCertificateName(id: string, schemes: ReadonlySet<ProvenScheme>): boolean {
  if (schemes.has('x509-san-uri') && isAlternativeName('uri', id)) return true;
  if (schemes.has('x509-san-dns') && isAlternativeName('dns', id)) return true;
  return schemes.has('x509') && isDistinguishedName(id);
}

/** `user:digest`. ZooKeeper splits it as Java does, which ignores colons at the end. */
function isDigestId(id: string): boolean {
  let end = id.length;
  while (end > 0 && id[end - 1] === ':') end--;
  const first = id.indexOf(':');
  const second = id.indexOf(':', first + 1);
  return first >= 0 && first < end && (second < 0 || second >= end);
}

/** What Java knows by name; anything else is given by its number. */
const KEYWORDS = [
  ...['CN', 'C', 'L', 'S', 'ST', 'O', 'OU', 'T', 'IP', 'STREET', 'DC', 'DNQUALIFIER', 'DNQ'],
  ...['SURNAME', 'GIVENNAME', 'INITIALS', 'GENERATION', 'EMAIL', 'EMAILADDRESS', 'UID'],
  'SERIALNUMBER',
];
const TYPE = `(?:${KEYWORDS.join('|')}|(?:OID\\.)?[0-2](?:\\.\\d+)+)`;
const HEX = '#(?:[0-9A-F]{2})+';
const QUOTED = '"(?:[^"\\\\]|\\\\[\\s\\S])*"';
// Its first character is no blank, so that a text is read in one way only, in linear time.
const PLAIN = '(?:[^\\s,+;"\\\\<>#=]|\\\\[\\s\\S])(?:[^,+;"\\\\<>]|\\\\[\\s\\S])*';
const ATTRIBUTE = new RegExp(
  `\\s*${TYPE}\\s*=\\s*(?:${HEX}\\s*|${QUOTED}\\s*|${PLAIN})?([,+;]|$)`,
  'iy',
);

/** No longer one can be stored, and a regular expression fails on a text of megabytes. */
const CHARACTERS_MAX = 256 << 10;

/**
 * Which names of users an ACL may have, for the schemes x509 and sasl: those that Java can read.
 *
 * Whether it is a name as `X500Principal` takes it. Linear in the length of the text.
 */
export function isDistinguishedName(text: string): boolean {
  if (text === '' || text.length > CHARACTERS_MAX) return false;
  ATTRIBUTE.lastIndex = 0;
  for (;;) {
    const match = ATTRIBUTE.exec(text);
    if (match === null) return false;
    if (match[1] === '') return true;
  }
}

/** `user`, `user@REALM` or `service/host@REALM`, as in Kerberos. */
export function isSaslUser(text: string): boolean {
  return text !== '' && (!text.includes('@') || /^[^/@]*(\/[^/@]*)?@[^/@]*$/.test(text));
}
