/**
 * Reads the configuration's rules for ACLs: the identities that they may name, and the ACL of the
 * root of a new ensemble in the form in which znodes have it. Called at the start of a member.
 */
import { permsOf } from '@rookery/protocol';
import type { Config } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import { legalAcl, type ProvenScheme } from '../pipeline/acl-form.js';
import type { Acl } from '../state/txn.js';

/**
 * Null where the root is open, as in ZooKeeper. Throws OperatorError for an entry that no client
 * could write either.
 */
export function rootAclOf(config: Config): readonly Acl[] | null {
  const { rootAcl } = config;
  if (rootAcl === null) return null;
  const schemes = aclSchemesOf(config);
  const entries = rootAcl.map(entryOf);
  for (const [index, entry] of entries.entries()) {
    if (legalAcl([entry], [], schemes) !== null) continue;
    throw new OperatorError(
      `rootAcl[${index}]: no ACL may have this entry of scheme "${entry.scheme}": its id is ` +
        'malformed, or the scheme is not configured.',
    );
  }
  const legal = legalAcl(entries, [], schemes);
  // Null would be an open root.
  if (legal === null) throw new OperatorError('rootAcl: its entries are too long together.');
  return legal;
}

/** `scheme:id:letters`; the id may have colons. */
function entryOf(text: string): Acl {
  const [first, last] = [text.indexOf(':'), text.lastIndexOf(':')];
  const [scheme, id] = [text.slice(0, first), text.slice(first + 1, last)];
  return { perms: permsOf(text.slice(last + 1)), scheme, id };
}

/** The schemes that clients can prove, and ACLs may name, only where they are configured. */
export function aclSchemesOf({ tls, sasl }: Config): ReadonlySet<ProvenScheme> {
  const schemes = new Set<ProvenScheme>();
  if (sasl !== null) schemes.add('sasl');
  if (tls === null || tls.clientAuth === 'none') return schemes;
  // Names of the former form stay legal, so that ACLs can be written again as they are.
  schemes.add('x509');
  if (tls.identity !== 'subject') schemes.add(`x509-${tls.identity}`);
  return schemes;
}
