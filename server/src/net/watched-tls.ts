/**
 * The certificate of this member for one of its ports, kept current with its files, and the
 * acceptors that present it.
 *
 * A certificate that replaces another is used by all acceptors at once, for handshakes that begin
 * from then on. Files that cannot be used leave everything as it is (watched-files.ts), and
 * `figures.isStale` says so. When a certificate is loaded, the log says when it expires.
 */
import type { Logger } from 'pino';
import { loadTlsFiles, pathsOf, type TlsFiles, type TlsMaterial } from '../security/tls-files.js';
import { WatchedFiles } from '../security/watched-files.js';
import { FairSlots } from './fair-slots.js';
import { RateLimitedLog } from './rate-limited-log.js';
import type { Timers } from './timers.js';
import { type HandshakeSlot, TlsAcceptor, type TlsAcceptorOptions } from './tls-acceptor.js';
import { TlsFigures } from './tls-figures.js';

export interface WatchedTlsParts {
  readonly settings: TlsFiles;
  /** The name of the files in the log. */
  readonly name: string;
  readonly port: 'client' | 'peer';
  /** How many handshakes may be under way at all of its acceptors together. */
  readonly handshakesMax: number;
  readonly logger: Logger;
  readonly timers: Timers;
}

const DAY_MS = 24 * 3_600_000;
/** Whoever renews certificates a month before they expire is in time. */
const WARN_MS = 14 * DAY_MS;

export class WatchedTls {
  readonly figures = new TlsFigures();
  readonly #parts: WatchedTlsParts;
  readonly #files: WatchedFiles<TlsMaterial>;
  readonly #rateLimited: RateLimitedLog;
  readonly #slots: FairSlots<HandshakeSlot>;
  readonly #acceptors: TlsAcceptor[] = [];

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(parts: WatchedTlsParts) {
    const { settings, name, logger, timers } = parts;
    this.#parts = parts;
    this.#slots = new FairSlots(parts.handshakesMax);
    this.#rateLimited = new RateLimitedLog(logger, timers);
    this.#files = new WatchedFiles({
      name,
      logger,
      timers,
      paths: pathsOf(settings),
      load: () => loadTlsFiles(settings),
      onStale: (isStale) => {
        this.figures.isStale = isStale;
      },
    });
    this.#files.onChange((material) => {
      for (const acceptor of this.#acceptors) acceptor.renew(material);
      this.#noteExpiry(material);
    });
    this.#noteExpiry(this.#files.current);
  }

  /** Starts to follow the files. */
  start(): void {
    this.#files.start();
  }

  close(): void {
    this.#files.close();
    this.#rateLimited.close();
  }

  protected get material(): TlsMaterial {
    return this.#files.current;
  }

  protected addAcceptor(options: TlsAcceptorOptions): TlsAcceptor {
    const { figures, material } = this;
    const shared = { slots: this.#slots, rateLimited: this.#rateLimited };
    const parts = { material, options, figures, ...shared };
    const acceptor = new TlsAcceptor(parts);
    this.#acceptors.push(acceptor);
    return acceptor;
  }

  #noteExpiry({ certificate }: TlsMaterial): void {
    const { port, logger, timers } = this.#parts;
    const expiresWallMs = Date.parse(certificate.validTo);
    this.figures.expiresWallMs = expiresWallMs;
    const leftMs = expiresWallMs - timers.wallMs();
    const facts = { port, subject: certificate.subject, expires: certificate.validTo };
    if (leftMs <= 0) logger.error(facts, 'tls.certificate_expired');
    else if (leftMs < WARN_MS) logger.warn(facts, 'tls.certificate_expires_soon');
    else logger.info(facts, 'tls.certificate');
  }
}
