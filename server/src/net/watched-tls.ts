/**
 * The certificate of this member for one of its ports, kept current with its files, and the
 * acceptors that present it.
 *
 * A certificate that replaces another is used by all acceptors at once, for handshakes that begin
 * from then on. Files that cannot be used leave everything as it is (watched-files.ts), and
 * `figures.isStale` says so. When the files are loaded, the log says which of the own certificates,
 * of the authorities and of the revocation lists expires first, and when; it warns some time before
 * that, says so when it happens, and repeats both every day (tls-expiry-log.ts).
 */
import type { X509Certificate } from 'node:crypto';
import type { Logger } from 'pino';
import {
  EXPIRY_WARN_MS,
  loadTlsFiles,
  pathsOf,
  type RevocationListEnd,
  type TlsFiles,
  type TlsMaterial,
} from '../security/tls-files.js';
import { WatchedFiles } from '../security/watched-files.js';
import { FairSlots } from './fair-slots.js';
import { RateLimitedLog } from './rate-limited-log.js';
import type { Timers } from './timers.js';
import { type HandshakeSlot, TlsAcceptor, type TlsAcceptorOptions } from './tls-acceptor.js';
import { type Expiring, TlsExpiryLog } from './tls-expiry-log.js';
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

const CERTIFICATE = {
  events: {
    lasting: 'tls.certificate',
    ending: 'tls.certificate_expires_soon',
    expired: 'tls.certificate_expired',
  },
  warnMs: EXPIRY_WARN_MS.certificate,
};
const AUTHORITY = {
  events: {
    lasting: 'tls.authority',
    ending: 'tls.authority_expires_soon',
    expired: 'tls.authority_expired',
  },
  warnMs: EXPIRY_WARN_MS.authority,
};
const REVOCATION_LIST = {
  events: {
    lasting: 'tls.revocation_list',
    ending: 'tls.revocation_list_expires_soon',
    expired: 'tls.revocation_list_expired',
  },
  warnMs: EXPIRY_WARN_MS.revocationList,
};

export class WatchedTls {
  readonly figures = new TlsFigures();
  readonly #parts: WatchedTlsParts;
  readonly #files: WatchedFiles<TlsMaterial>;
  readonly #rateLimited: RateLimitedLog;
  readonly #slots: FairSlots<HandshakeSlot>;
  readonly #acceptors: TlsAcceptor[] = [];
  readonly #certificate: TlsExpiryLog;
  readonly #authority: TlsExpiryLog;
  readonly #revocationList: TlsExpiryLog;

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(parts: WatchedTlsParts) {
    const { settings, name, logger, timers } = parts;
    this.#parts = parts;
    this.#slots = new FairSlots(parts.handshakesMax);
    this.#certificate = new TlsExpiryLog({ ...CERTIFICATE, logger, timers });
    this.#authority = new TlsExpiryLog({ ...AUTHORITY, logger, timers });
    this.#revocationList = new TlsExpiryLog({ ...REVOCATION_LIST, logger, timers });
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
      this.#noteExpiries(material);
    });
    this.#noteExpiries(this.#files.current);
  }

  /** Starts to follow the files, and the time. */
  start(): void {
    this.#files.start();
    for (const log of this.#expiries) log.start();
  }

  close(): void {
    this.#files.close();
    for (const log of this.#expiries) log.close();
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

  get #expiries(): readonly TlsExpiryLog[] {
    return [this.#certificate, this.#authority, this.#revocationList];
  }

  #noteExpiries({ firstToExpire, firstAuthorityToExpire, firstListToExpire }: TlsMaterial): void {
    const { figures } = this;
    const { port } = this.#parts;
    const certificate = expiringCertificate(firstToExpire, port);
    const authority =
      firstAuthorityToExpire === null ? null : expiringCertificate(firstAuthorityToExpire, port);
    figures.expiresWallMs = certificate.endsWallMs;
    figures.authorityExpiresWallMs = authority?.endsWallMs ?? null;
    figures.listsEndWallMs = firstListToExpire?.endsWallMs ?? null;
    this.#certificate.note(certificate);
    this.#authority.note(authority);
    this.#revocationList.note(
      firstListToExpire === null ? null : expiringList(firstListToExpire, port),
    );
  }
}

type Port = WatchedTlsParts['port'];

function expiringCertificate({ subject, validTo: expires }: X509Certificate, port: Port): Expiring {
  return { endsWallMs: Date.parse(expires), facts: { port, subject, expires } };
}

function expiringList({ file, block, endsWallMs }: RevocationListEnd, port: Port): Expiring {
  const expires = new Date(endsWallMs).toISOString();
  return { endsWallMs, facts: { port, file, block, expires } };
}
