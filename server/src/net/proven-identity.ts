/**
 * Who a client is by its certificate. The certificate was verified when TLS was established.
 */
import type { Identity } from '@rookery/protocol';
import { x509Name } from '../security/x509-name.js';
import type { Secured } from './transport.js';

const NOBODY: readonly Identity[] = [];

/** A certificate without a subject is nobody's. */
export function provenBy(secured: Secured | null): readonly Identity[] {
  const certificate = secured?.certificate ?? null;
  if (certificate === null) return NOBODY;
  const id = x509Name(certificate);
  return id === '' ? NOBODY : [{ scheme: 'x509', id }];
}
