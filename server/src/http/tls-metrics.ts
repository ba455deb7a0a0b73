/**
 * The figures of TLS at the client port and between members, for Prometheus. There are none without
 * TLS.
 */
import { TLS_FAILURES, type TlsFigures } from '../net/tls-figures.js';
import { counter, counters, gauge, type Metric } from './metric.js';

export function tlsMetrics(tls: TlsFigures | null): Metric[] {
  if (tls === null) return [];
  return [
    gauge(
      'rookery_tls_certificate_expiry_seconds',
      'When the certificate that clients are shown, or its chain, expires, in seconds since 1970.',
      Math.floor(tls.expiresWallMs / 1000),
    ),
    ...authorityMetrics('rookery_tls_authority_expiry_seconds', tls),
    ...revocationMetrics('rookery_tls_revocation_list_expiry_seconds', tls),
    gauge(
      'rookery_tls_certificate_stale',
      'Whether the files of the certificate have changed into something that cannot be used.',
      tls.isStale ? 1 : 0,
    ),
    counters('rookery_tls_handshakes_total', 'TLS handshakes of clients that succeeded.', [
      [{ resumed: 'no' }, tls.secured - tls.resumed],
      [{ resumed: 'yes' }, tls.resumed],
    ]),
    counters(
      'rookery_tls_handshake_failures_total',
      'TLS handshakes of clients that failed, by the reason.',
      TLS_FAILURES.map((reason) => [{ reason }, tls.failures(reason)]),
    ),
    counter(
      'rookery_tls_plain_refused_total',
      'Connections of clients without TLS that were refused because TLS is required.',
      tls.plainRefused,
    ),
  ];
}

export function peerTlsMetrics(tls: TlsFigures | null): Metric[] {
  if (tls === null) return [];
  return [
    gauge(
      'rookery_peer_tls_certificate_expiry_seconds',
      'When the certificate that members are shown, or its chain, expires, in seconds since 1970.',
      Math.floor(tls.expiresWallMs / 1000),
    ),
    ...authorityMetrics('rookery_peer_tls_authority_expiry_seconds', tls),
    ...revocationMetrics('rookery_peer_tls_revocation_list_expiry_seconds', tls),
    gauge(
      'rookery_peer_tls_certificate_stale',
      "Whether the files of the members' certificate have changed into something unusable.",
      tls.isStale ? 1 : 0,
    ),
    counters(
      'rookery_peer_tls_handshake_failures_total',
      'TLS handshakes of those who connect as members that failed, by the reason.',
      TLS_FAILURES.map((reason) => [{ reason }, tls.failures(reason)]),
    ),
  ];
}

function authorityMetrics(name: string, { authorityExpiresWallMs }: TlsFigures): Metric[] {
  if (authorityExpiresWallMs === null) return [];
  const help = 'When the first of the authorities in caFile expires, in seconds since 1970.';
  return [gauge(name, help, Math.floor(authorityExpiresWallMs / 1000))];
}

function revocationMetrics(name: string, { listsEndWallMs }: TlsFigures): Metric[] {
  if (listsEndWallMs === null) return [];
  const help = 'When the first of the revocation lists expires, in seconds since 1970.';
  return [gauge(name, help, Math.floor(listsEndWallMs / 1000))];
}
