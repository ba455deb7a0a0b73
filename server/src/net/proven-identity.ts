/**
 * Who a client is by its certificate. The certificate was verified when TLS was established.
 */
import type { Identity } from '@rookery/protocol';
import { alternativeNames } from '../security/alternative-names.js';
import { DerError } from '../security/der-reader.js';
import { x509Name } from '../security/x509-name.js';
import type { Secured } from './transport.js';

/** What of a certificate is its owner's name. */
export type CertificateIdentity = 'subject' | 'san-uri' | 'san-dns';

const NOBODY: readonly Identity[] = [];
/** One name is usual; a certificate of more is that of no client. */
const NAMES_MAX = 16;

/** A certificate without such a name, or with one that cannot be read, is nobody's. */
export function provenBy(
  secured: Secured | null,
  identity: CertificateIdentity = 'subject',
): readonly Identity[] {
  const certificate = secured?.certificate ?? null;
  if (certificate === null) return NOBODY;
  const names = namesOf(certificate, identity);
  if (names.length > NAMES_MAX) return NOBODY;
  return names.map((id) => ({ scheme: 'x509', id }));
}

/** OpenSSL accepts encodings that are not read here. */
function namesOf(certificate: Uint8Array, identity: CertificateIdentity): readonly string[] {
  try {
    if (identity === 'san-uri') return alternativeNames(certificate, 'uri');
    if (identity === 'san-dns') return alternativeNames(certificate, 'dns');
    const name = x509Name(certificate);
    return name === '' ? [] : [name];
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return [];
  }
}
