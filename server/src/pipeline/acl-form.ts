/**
 * Whether the ACL list of a request has a legal form, and what is stored of it.
 *
 * Only the form: nobody is authenticated yet, so that the scheme `auth`, which stands for the
 * authenticated ids of the connection, is always invalid. Called by prepare.
 */
import type { Acl } from '../state/txn.js';

/** The list without its duplicates, or null when it is invalid (-114). */
export function legalAcl(requested: readonly Acl[] | null): readonly Acl[] | null {
  if (requested === null || requested.length === 0) return null;
  if (!requested.every(isLegal)) return null;
  if (requested.length === 1) return requested;
  return requested.filter(
    (acl, index) => requested.findIndex((other) => same(acl, other)) === index,
  );
}

function same(one: Acl, other: Acl): boolean {
  return one.perms === other.perms && one.scheme === other.scheme && one.id === other.id;
}

function isLegal(acl: Acl): boolean {
  switch (acl.scheme) {
    case 'world':
      return acl.id === 'anyone';
    case 'digest':
      return acl.id.split(':').length === 2;
    case 'ip':
      return isAddressRange(acl.id);
    default:
      return false;
  }
}

/** `address` or `address/bits`, of either family. */
function isAddressRange(id: string): boolean {
  const [address, bits, ...more] = id.split('/');
  if (address === undefined || more.length > 0) return false;
  const width = isIpv4(address) ? 32 : isIpv6(address) ? 128 : 0;
  if (width === 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1);
  const embedded = last?.includes('.') === true;
  if (embedded && !isIpv4(last)) return false;
  const hexadecimal = embedded ? groups.slice(0, -1) : groups;
  if (!hexadecimal.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  const count = groups.length + (embedded ? 1 : 0);
  return halves.length === 2 ? count < 8 : count === 8;
}
