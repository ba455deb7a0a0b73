/**
 * TLS for the ports of clients: the certificate, kept current with its files, and the acceptors.
 *
 * A certificate that replaces another is used by all listeners at once. Files that cannot be used
 * leave everything as it is (watched-files.ts), and `figures.isStale` says so. Made at the start of
 * a member, before it opens anything; used by the client port.
 */
import type { Logger } from 'pino';
import type { TlsSettings } from '../config-security.js';
import { loadTlsFiles, pathsOf, type TlsMaterial } from '../security/tls-files.js';
import { WatchedFiles } from '../security/watched-files.js';
import { RateLimitedLog } from './rate-limited-log.js';
import type { Timers } from './timers.js';
import { TlsAcceptor } from './tls-acceptor.js';
import { TlsFigures } from './tls-figures.js';

export interface ClientTlsParts {
  readonly settings: TlsSettings;
  readonly logger: Logger;
  readonly timers: Timers;
}

const DAY_MS = 24 * 3_600_000;
/** Whoever renews certificates a month before they expire is in time. */
const WARN_MS = 14 * DAY_MS;

export class ClientTls {
  readonly settings: TlsSettings;
  readonly figures = new TlsFigures();
  readonly #parts: ClientTlsParts;
  readonly #files: WatchedFiles<TlsMaterial>;
  readonly #rateLimited: RateLimitedLog;
  readonly #acceptors: TlsAcceptor[] = [];

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(parts: ClientTlsParts) {
    const { settings, logger, timers } = parts;
    this.#parts = parts;
    this.settings = settings;
    this.#rateLimited = new RateLimitedLog(logger, timers);
    this.#files = new WatchedFiles({
      name: 'tls',
      paths: pathsOf(settings),
      load: () => loadTlsFiles(settings),
      ...{ timers, logger },
      onStale: (isStale) => {
        this.figures.isStale = isStale;
      },
    });
    this.#files.onChange((material) => this.#renew(material));
    this.#judge(this.#files.current);
  }

  /** Starts to follow the files. */
  start(): void {
    this.#files.start();
  }

  close(): void {
    this.#files.close();
    this.#rateLimited.close();
  }

  /** For one listener; the name tells its sessions from those of others. */
  newAcceptor(name: string): TlsAcceptor {
    const { clientAuth, handshakeTimeoutMs, handshakesMax } = this.settings;
    const acceptor = new TlsAcceptor({
      material: this.#files.current,
      options: { name, clientAuth, handshakeTimeoutMs, handshakesMax },
      figures: this.figures,
      rateLimited: this.#rateLimited,
    });
    this.#acceptors.push(acceptor);
    return acceptor;
  }

  #renew(material: TlsMaterial): void {
    for (const acceptor of this.#acceptors) acceptor.renew(material);
    this.#judge(material);
  }

  #judge({ certificate }: TlsMaterial): void {
    const { logger, timers } = this.#parts;
    const expiresWallMs = Date.parse(certificate.validTo);
    this.figures.expiresWallMs = expiresWallMs;
    const leftMs = expiresWallMs - timers.wallMs();
    const facts = { subject: certificate.subject, expires: certificate.validTo };
    if (leftMs <= 0) logger.error(facts, 'tls.certificate_expired');
    else if (leftMs < WARN_MS) logger.warn(facts, 'tls.certificate_expires_soon');
    else logger.info(facts, 'tls.certificate');
  }
}
