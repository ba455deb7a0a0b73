/**
 * Who a client is by its certificate. The certificate was verified when TLS was established.
 */
import type { Identity } from '@rookery/protocol';
import { DerError } from '../security/der-reader.js';
import { x509Name } from '../security/x509-name.js';
import type { Secured } from './transport.js';

const NOBODY: readonly Identity[] = [];

/** A certificate without a subject, or with one that cannot be read, is nobody's. */
export function provenBy(secured: Secured | null): readonly Identity[] {
  const certificate = secured?.certificate ?? null;
  if (certificate === null) return NOBODY;
  const id = nameOf(certificate);
  return id === '' ? NOBODY : [{ scheme: 'x509', id }];
}

/** OpenSSL accepts encodings that are not read here. */
function nameOf(certificate: Uint8Array): string {
  try {
    return x509Name(certificate);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return '';
  }
}
