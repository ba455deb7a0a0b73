/**
 * Says when a certificate of this member expires: in its figures, and in the log when it is loaded.
 */
import type { Logger } from 'pino';
import type { TlsMaterial } from '../security/tls-files.js';
import type { Timers } from './timers.js';
import type { TlsFigures } from './tls-figures.js';

const DAY_MS = 24 * 3_600_000;
/** Whoever renews certificates a month before they expire is in time. */
const WARN_MS = 14 * DAY_MS;

export function noteExpiry(
  { certificate }: TlsMaterial,
  figures: TlsFigures,
  to: {
    readonly logger: Logger;
    readonly timers: Pick<Timers, 'wallMs'>;
    readonly port: 'client' | 'peer';
  },
): void {
  const expiresWallMs = Date.parse(certificate.validTo);
  figures.expiresWallMs = expiresWallMs;
  const leftMs = expiresWallMs - to.timers.wallMs();
  const { subject, validTo: expires } = certificate;
  const facts = { port: to.port, subject, expires };
  if (leftMs <= 0) to.logger.error(facts, 'tls.certificate_expired');
  else if (leftMs < WARN_MS) to.logger.warn(facts, 'tls.certificate_expires_soon');
  else to.logger.info(facts, 'tls.certificate');
}
