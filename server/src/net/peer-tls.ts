/**
 * TLS between members: one certificate for both directions, kept current with its files.
 *
 * Both sides present a certificate that an authority of `caFile` has signed; whether it is that of
 * the member at the other end is judged by its names (peer-certificate.ts). A new certificate holds
 * for links that begin from then on. Made at the start of a member; used by the peer port.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Logger } from 'pino';
import { loadTlsFiles, pathsOf, type TlsFiles, type TlsMaterial } from '../security/tls-files.js';
import { WatchedFiles } from '../security/watched-files.js';
import { RateLimitedLog } from './rate-limited-log.js';
import type { Timers } from './timers.js';
import { TlsAcceptor } from './tls-acceptor.js';
import { TlsFigures } from './tls-figures.js';

export interface PeerTlsSettings extends TlsFiles {
  /** The name of the ensemble in URIs of certificates; null if it has none. */
  readonly ensemble: string | null;
}

export interface PeerTlsParts {
  readonly settings: PeerTlsSettings;
  readonly logger: Logger;
  readonly timers: Timers;
}

/** Within the two seconds that a link has for its hello. */
const HANDSHAKE_TIMEOUT_MS = 2_000;
/**
 * Above the number of links that are not admitted, where the oldest makes room for the newest: here
 * the newest would be refused, and silent strangers would keep members out.
 */
const HANDSHAKES_MAX = 1_024;

export class PeerTls {
  readonly ensemble: string | null;
  readonly acceptor: TlsAcceptor;
  readonly #files: WatchedFiles<TlsMaterial>;
  readonly #rateLimited: RateLimitedLog;

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor({ settings, logger, timers }: PeerTlsParts) {
    this.ensemble = settings.ensemble;
    this.#rateLimited = new RateLimitedLog(logger, timers);
    this.#files = new WatchedFiles({
      name: 'the certificate of peerAuth',
      paths: pathsOf(settings),
      load: () => loadTlsFiles(settings),
      ...{ timers, logger },
    });
    this.acceptor = new TlsAcceptor({
      material: this.#files.current,
      options: {
        ...{ name: 'peer', clientAuth: 'need' },
        ...{ handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS, handshakesMax: HANDSHAKES_MAX },
      },
      figures: new TlsFigures(),
      rateLimited: this.#rateLimited,
    });
    this.#files.onChange((material) => this.acceptor.renew(material));
  }

  /** How another member is dialled. Its names are judged when it is connected. */
  dialOptions(): ConnectionOptions {
    const { options } = this.#files.current;
    return { ...options, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  }

  /** Starts to follow the files. */
  start(): void {
    this.#files.start();
  }

  close(): void {
    this.#files.close();
    this.#rateLimited.close();
  }
}
