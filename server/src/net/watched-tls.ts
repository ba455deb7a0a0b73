/**
 * Keeps a port's certificate current with its files, and owns the acceptors that present it:
 * `ClientTls` for clients, `PeerTls` between members.
 *
 * All acceptors use a new certificate at once, for handshakes that begin from then on. Files that
 * cannot be used change nothing (watched-files.ts), and `figures.isStale` is true until they are
 * repaired. When the files are loaded, the log says which certificate, authority and revocation
 * list expires first, and when; it warns ahead of that, logs the expiry, and repeats both every
 * day. Made when a member starts, before it opens anything.
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
  type TlsPolicy,
} from './tls-acceptor.js';

type Port = 'client' | 'peer';

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
  readonly slots: FairSlots<HandshakeSlot>;
  readonly rateLimited: RateLimitedLog;
  readonly #port: Port;
  readonly #files: WatchedFiles<TlsMaterial>;
  readonly #acceptors: TlsAcceptor[] = [];
  readonly #certificate: TlsExpiryLog;
  readonly #authority: TlsExpiryLog;
  readonly #revocationList: TlsExpiryLog;

  /**
   * Reads the files. `name` is theirs in the log, and `handshakesMax` bounds the handshakes that
   * are under way at all acceptors together. Throws OperatorError with a sentence that names what
   * is wrong.
   */
  constructor(
    settings: TlsFiles,
    at: { readonly name: string; readonly port: Port; readonly handshakesMax: number },
    logger: Logger,
    timers: Timers,
  ) {
    this.#port = at.port;
    this.slots = new FairSlots(at.handshakesMax);
    this.#certificate = new TlsExpiryLog(CERTIFICATE, logger, timers);
    this.#authority = new TlsExpiryLog(AUTHORITY, logger, timers);
    this.#revocationList = new TlsExpiryLog(REVOCATION_LIST, logger, timers);
    this.rateLimited = new RateLimitedLog(logger, timers);
    const load = () => loadTlsFiles(settings);
    this.#files = new WatchedFiles(at.name, pathsOf(settings), load, timers, logger);
    this.#files.onStale((isStale) => {
      this.figures.isStale = isStale;
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
    this.rateLimited.close();
  }

  get material(): TlsMaterial {
    return this.#files.current;
  }

  protected addAcceptor(policy: TlsPolicy): TlsAcceptor {
    const acceptor = new TlsAcceptor(this, policy);
    this.#acceptors.push(acceptor);
    return acceptor;
  }

  get #expiries(): readonly TlsExpiryLog[] {
    return [this.#certificate, this.#authority, this.#revocationList];
  }

  #noteExpiries({ firstToExpire, firstAuthorityToExpire, firstListToExpire }: TlsMaterial): void {
    const { figures } = this;
    const port = this.#port;
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

function expiringCertificate({ subject, validTo: expires }: X509Certificate, port: Port): Expiring {
  return { endsWallMs: Date.parse(expires), facts: { port, subject, expires } };
}

function expiringList({ file, block, endsWallMs }: RevocationListEnd, port: Port): Expiring {
  const expires = new Date(endsWallMs).toISOString();
  return { endsWallMs, facts: { port, file, block, expires } };
}

const PLAIN_ADVICE = 'a client without TLS connects to clientPort, or is given TLS';

/** TLS for the ports of clients. */
export class ClientTls extends WatchedTls {
  readonly settings: TlsSettings;

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(settings: TlsSettings, logger: Logger, timers: Timers) {
    const { handshakesMax } = settings;
    super(settings, { name: 'tls', port: 'client', handshakesMax }, logger, timers);
    this.settings = settings;
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
  constructor(settings: PeerTlsSettings, logger: Logger, timers: Timers) {
    const name = 'the certificate of peerAuth';
    super(settings, { name, port: 'peer', handshakesMax: HANDSHAKES_MAX }, logger, timers);
    this.ensemble = settings.ensemble;
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

/** What expires, and when the log warns of it. */
interface ExpiryKind {
  /** The names of the lines in the log. */
  readonly events: Readonly<Record<Validity, string>>;
  readonly warnMs: number;
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
  readonly #kind: ExpiryKind;
  readonly #logger: Logger;
  readonly #timers: Timers;
  #noted: Expiring | null = null;
  /** What was last logged of what is noted. */
  #logged: Validity = 'lasting';
  #isFollowing = false;
  #timer: Timer | null = null;

  constructor(kind: ExpiryKind, logger: Logger, timers: Timers) {
    this.#kind = kind;
    this.#logger = logger;
    this.#timers = timers;
  }

  /** Takes the place of what was noted before; null for nothing that expires. */
  note(expiring: Expiring | null): void {
    this.#noted = expiring;
    if (expiring !== null) this.#log(expiring);
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
   * Logs what is new since the last line. It looks again when the next line is due, and at least
   * once a day because clocks are set. A timer may be early by the wall clock: then nothing is new.
   */
  #follow(isDaily = false): void {
    this.#timer?.cancel();
    this.#timer = null;
    const expiring = this.#noted;
    if (expiring === null) return;
    const validity = this.#validityOf(expiring);
    if (validity !== 'lasting' && (isDaily || validity !== this.#logged)) this.#log(expiring);
    const { warnMs } = this.#kind;
    const leftMs = this.#leftMs(expiring);
    const nextMs = leftMs > warnMs ? leftMs - warnMs : leftMs > 0 ? leftMs : DAY_MS;
    this.#timer = this.#timers.after(Math.min(nextMs, DAY_MS), () => {
      this.#follow(nextMs >= DAY_MS);
    });
  }

  #log(expiring: Expiring): void {
    this.#logged = this.#validityOf(expiring);
    const level = ({ lasting: 'info', ending: 'warn', expired: 'error' } as const)[this.#logged];
    this.#logger[level](expiring.facts, this.#kind.events[this.#logged]);
  }

  #validityOf(expiring: Expiring): Validity {
    const leftMs = this.#leftMs(expiring);
    if (leftMs <= 0) return 'expired';
    return leftMs <= this.#kind.warnMs ? 'ending' : 'lasting';
  }

  #leftMs({ endsWallMs }: Expiring): number {
    return endsWallMs + LAST_SECOND_MS - this.#timers.wallMs();
  }
}
