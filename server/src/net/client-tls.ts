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
import { noteExpiry } from './certificate-expiry.js';
import { RateLimitedLog } from './rate-limited-log.js';
import type { Timers } from './timers.js';
import { TlsAcceptor } from './tls-acceptor.js';
import { TlsFigures } from './tls-figures.js';

export interface ClientTlsParts {
  readonly settings: TlsSettings;
  readonly logger: Logger;
  readonly timers: Timers;
}

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

  #judge(material: TlsMaterial): void {
    noteExpiry(material, this.figures, { ...this.#parts, port: 'client' });
  }
}
