/**
 * The certificate of this member for one of its ports, kept current with its files, and the
 * acceptors that present it.
 *
 * A certificate that replaces another is used by all acceptors at once, for handshakes that begin
 * from then on. Files that cannot be used leave everything as it is (watched-files.ts), and
 * `figures.isStale` says so. When a certificate is loaded, the log says when it expires, or an
 * intermediate one that expires before it; it warns two weeks before that, says so when it happens,
 * and repeats both every day.
 */
import type { Logger } from 'pino';
import { loadTlsFiles, pathsOf, type TlsFiles, type TlsMaterial } from '../security/tls-files.js';
import { WatchedFiles } from '../security/watched-files.js';
import { FairSlots } from './fair-slots.js';
import { RateLimitedLog } from './rate-limited-log.js';
import type { Timer, Timers } from './timers.js';
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
/** A certificate is valid until the end of its last second. */
const LAST_SECOND_MS = 1_000;

type Validity = 'lasting' | 'ending' | 'expired';

export class WatchedTls {
  readonly figures = new TlsFigures();
  readonly #parts: WatchedTlsParts;
  readonly #files: WatchedFiles<TlsMaterial>;
  readonly #rateLimited: RateLimitedLog;
  readonly #slots: FairSlots<HandshakeSlot>;
  readonly #acceptors: TlsAcceptor[] = [];
  /** What the log has said of the certificate last. */
  #said: Validity = 'lasting';
  /** Null before `start` and after `close`. */
  #expiryTimer: Timer | null = null;

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
      this.#keepNoting();
    });
    this.#noteExpiry(this.#files.current);
  }

  /** Starts to follow the files, and the time. */
  start(): void {
    this.#files.start();
    this.#keepNoting();
  }

  close(): void {
    this.#files.close();
    this.#expiryTimer?.cancel();
    this.#expiryTimer = null;
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

  #noteExpiry({ firstToExpire, listsEndWallMs }: TlsMaterial): void {
    const { port, logger } = this.#parts;
    const { subject, validTo: expires } = firstToExpire;
    this.figures.expiresWallMs = Date.parse(expires);
    this.figures.listsEndWallMs = listsEndWallMs;
    this.#said = validityOf(this.#leftMs());
    const facts = { port, subject, expires };
    if (this.#said === 'expired') logger.error(facts, 'tls.certificate_expired');
    else if (this.#said === 'ending') logger.warn(facts, 'tls.certificate_expires_soon');
    else logger.info(facts, 'tls.certificate');
  }

  /**
   * Says what is new since the certificate was noted last, and looks again when something is to be
   * said, and each day in any case: clocks are set. A timer may also be early by the wall's clock:
   * then nothing is new, and nothing is said.
   */
  #keepNoting(isDaily = false): void {
    const leftMs = this.#leftMs();
    const validity = validityOf(leftMs);
    if (validity !== 'lasting' && (isDaily || validity !== this.#said)) {
      this.#noteExpiry(this.#files.current);
    }
    const nextMs = leftMs > WARN_MS ? leftMs - WARN_MS : leftMs > 0 ? leftMs : DAY_MS;
    this.#expiryTimer?.cancel();
    this.#expiryTimer = this.#parts.timers.after(Math.min(nextMs, DAY_MS), () => {
      this.#keepNoting(nextMs >= DAY_MS);
    });
  }

  #leftMs(): number {
    return this.figures.expiresWallMs + LAST_SECOND_MS - this.#parts.timers.wallMs();
  }
}

function validityOf(leftMs: number): Validity {
  if (leftMs <= 0) return 'expired';
  return leftMs <= WARN_MS ? 'ending' : 'lasting';
}
