/**
 * The certificate of this member for one of its ports, kept current with its files, and the
 * acceptors that present it: `ClientTls` for clients, `PeerTls` between members.
 *
 * A certificate that replaces another is used by all acceptors at once, for handshakes that begin
 * from then on. Files that cannot be used leave everything as it is (watched-files.ts), and
 * `figures.isStale` says so. When the files are loaded, the log says which of the own certificates,
 * of the authorities and of the revocation lists expires first, and when; it warns some time before
 * that, says so when it happens, and repeats both every day. Made at the start of a member, before
 * it opens anything.
 */
import type { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { Logger } from 'pino';
import type { TlsSettings } from '../config/config-security.js';
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
import { TlsFigures } from './server-stats.js';
import type { Timer, Timers } from './timers.js';
import {
  type HandshakeSlot,
  isSignedByOneOf,
  TlsAcceptor,
  type TlsAcceptorOptions,
} from './tls-acceptor.js';

interface WatchedTlsParts {
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

const PLAIN_ADVICE = 'a client without TLS connects to clientPort, or is given TLS';

interface ClientTlsParts {
  readonly settings: TlsSettings;
  readonly logger: Logger;
  readonly timers: Timers;
}

/** TLS for the ports of clients. */
export class ClientTls extends WatchedTls {
  readonly settings: TlsSettings;

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(parts: ClientTlsParts) {
    const { handshakesMax } = parts.settings;
    super({ ...parts, name: 'tls', port: 'client', handshakesMax });
    this.settings = parts.settings;
  }

  /** Each listener has an acceptor of its own, whose sessions are not resumed at another one. */
  newAcceptor(name: string): TlsAcceptor {
    const { clientAuth, handshakeTimeoutMs } = this.settings;
    return this.addAcceptor({ name, clientAuth, handshakeTimeoutMs, plainAdvice: PLAIN_ADVICE });
  }
}

interface PeerTlsSettings extends TlsFiles {
  /** The name of the ensemble in URIs of certificates; null if it has none. */
  readonly ensemble: string | null;
}

interface PeerTlsParts {
  readonly settings: PeerTlsSettings;
  readonly logger: Logger;
  readonly timers: Timers;
}

/** A link has two seconds in all until its hello. */
const HANDSHAKE_TIMEOUT_MS = 2_000;
/** This is above the number of links that are not admitted, which has a bound of its own. */
const HANDSHAKES_MAX = 1_024;

/**
 * TLS between members: one certificate for both directions. Both sides present a certificate that
 * an authority of `caFile` has signed; whether it is that of the member at the other end is judged
 * by its names (peer-certificate.ts). A new certificate holds for links that begin from then on.
 */
export class PeerTls extends WatchedTls {
  readonly ensemble: string | null;
  readonly acceptor: TlsAcceptor;

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(parts: PeerTlsParts) {
    const name = 'the certificate of peerAuth';
    super({ ...parts, name, port: 'peer', handshakesMax: HANDSHAKES_MAX });
    this.ensemble = parts.settings.ensemble;
    this.acceptor = this.addAcceptor({
      name: 'peer',
      clientAuth: 'need',
      handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
      plainAdvice: 'set peerAuth.tls in the file of that member',
    });
  }

  /** The options for dialling another member; its names are judged once it is connected. */
  dialOptions(): ConnectionOptions {
    const { options, isPkcs12, authorities } = this.material;
    return {
      ...options,
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => {
        // Node passes the certificate with its chain.
        if (!isPkcs12 || isSignedByOneOf(authorities, certificate)) return undefined;
        return new Error('its authority is not in caFile');
      },
    };
  }
}

interface Expiring {
  /** The beginning of the last second in which it is valid, ms since 1970. */
  readonly endsWallMs: number;
  /** What the log says of it: which one it is, and `expires`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

type Validity = 'lasting' | 'ending' | 'expired';

interface TlsExpiryLogParts {
  /** The names of the lines in the log. */
  readonly events: Readonly<Record<Validity, string>>;
  readonly warnMs: number;
  readonly logger: Logger;
  readonly timers: Timers;
}

const DAY_MS = 24 * 3_600_000;
const LAST_SECOND_MS = 1_000;

/**
 * Logs when something expires that TLS needs at a port: a certificate, an authority or a revocation
 * list.
 *
 * What is noted is logged at once, with when it expires. It is logged as a warning from `warnMs`
 * before that on, and as an error once it has expired: when it comes to that, and again each day.
 * Before `start` and after `close` only `note` itself logs.
 */
export class TlsExpiryLog {
  readonly #parts: TlsExpiryLogParts;
  #noted: Expiring | null = null;
  /** What the log has said last of what is noted. */
  #said: Validity = 'lasting';
  #isFollowing = false;
  #timer: Timer | null = null;

  constructor(parts: TlsExpiryLogParts) {
    this.#parts = parts;
  }

  /** Takes the place of what was noted before; null for nothing that expires. */
  note(expiring: Expiring | null): void {
    this.#noted = expiring;
    if (expiring !== null) this.#say(expiring);
    if (this.#isFollowing) this.#follow();
  }

  /** Starts to follow the time. */
  start(): void {
    this.#isFollowing = true;
    this.#follow();
  }

  close(): void {
    this.#isFollowing = false;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /**
   * Says what is new since it was said last, and looks again when something is to be said, and each
   * day in any case: clocks are set. A timer may also be early by the wall's clock: then nothing is
   * new, and nothing is said.
   */
  #follow(isDaily = false): void {
    this.#timer?.cancel();
    this.#timer = null;
    const expiring = this.#noted;
    if (expiring === null) return;
    const validity = this.#validityOf(expiring);
    if (validity !== 'lasting' && (isDaily || validity !== this.#said)) this.#say(expiring);
    const { warnMs, timers } = this.#parts;
    const leftMs = this.#leftMs(expiring);
    const nextMs = leftMs > warnMs ? leftMs - warnMs : leftMs > 0 ? leftMs : DAY_MS;
    this.#timer = timers.after(Math.min(nextMs, DAY_MS), () => {
      this.#follow(nextMs >= DAY_MS);
    });
  }

  #say(expiring: Expiring): void {
    const { events, logger } = this.#parts;
    this.#said = this.#validityOf(expiring);
    const event = events[this.#said];
    if (this.#said === 'expired') logger.error(expiring.facts, event);
    else if (this.#said === 'ending') logger.warn(expiring.facts, event);
    else logger.info(expiring.facts, event);
  }

  #validityOf(expiring: Expiring): Validity {
    const leftMs = this.#leftMs(expiring);
    if (leftMs <= 0) return 'expired';
    return leftMs <= this.#parts.warnMs ? 'ending' : 'lasting';
  }

  #leftMs({ endsWallMs }: Expiring): number {
    return endsWallMs + LAST_SECOND_MS - this.#parts.timers.wallMs();
  }
}
