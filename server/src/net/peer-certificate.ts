/**
 * Judges whether a certificate is a member's, by its subject alternative names.
 *
 * A URI `rookery://<ensemble>/<id>` names a member of an ensemble; if a certificate has such URIs,
 * only they count, so that two ensembles under one authority stay apart. Otherwise a DNS name or an
 * IP address must be the host of that member in the config file, letter for letter: a wildcard
 * would stand for every member, and names of addresses are not looked up. TLS checks that the
 * certificate is valid. Pure.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { PeerId } from '@rookery/protocol';

export interface MemberName {
  readonly id: PeerId;
  /** The member's host in the config file; null for an id that it does not list. */
  readonly host: string | null;
  /** The name of the ensemble in URIs; null if it has none. */
  readonly ensemble: string | null;
}

/** Null if it is that member's; otherwise why not. */
export function certificateProblem(der: Uint8Array, { id, host, ensemble }: MemberName) {
  const certificate = new X509Certificate(der);
  const uris = entriesOf(certificate.subjectAltName ?? '')
    .filter((entry) => entry.startsWith('URI:rookery://'))
    .map((entry) => entry.slice('URI:'.length));
  if (uris.length > 0) {
    if (ensemble !== null && uris.includes(`rookery://${ensemble}/${id}`)) return null;
    return `its certificate is not that of member ${id} of this ensemble`;
  }
  if (host === null) return `member ${id} is not in the list of members here`;
  if (isNamed(certificate, host)) return null;
  return `its certificate does not name the host of member ${id}`;
}

function isNamed(certificate: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return certificate.checkIP(host) !== undefined;
  const name = host.replace(/\.$/, '');
  return certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined;
}

/** Node quotes an entry that contains a comma or a quote, as JSON. */
function entriesOf(subjectAltName: string): string[] {
  const entries = subjectAltName.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return entries.map((entry) => entry.trim());
}
