/**
 * Leaves out the digests of a client that only stand for another one.
 *
 * While a member has several, a password proves a digest by each, in the order of `digestAlgs`, so
 * that ACLs of either match. The first digest of a connection tells which algorithm is preferred:
 * only digests by that one are written into ACLs in place of `auth`, and shown. Pure.
 */
import type { Identities } from './access.js';

/** Without the digests that only stand for another one by the preferred algorithm. */
export function withoutFormerDigests(identities: Identities): Identities {
  const first = identities.find(({ scheme }) => scheme === 'digest');
  if (first === undefined) return identities;
  const length = digestLength(first.id);
  const isFormer = (id: string) => digestLength(id) !== length;
  if (!identities.some(({ scheme, id }) => scheme === 'digest' && isFormer(id))) return identities;
  return identities.filter(({ scheme, id }) => scheme !== 'digest' || !isFormer(id));
}

/** The user before the colon may have any length. */
function digestLength(id: string): number {
  return id.length - id.indexOf(':');
}
