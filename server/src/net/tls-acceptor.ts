/**
 * Accepts TLS handshakes for one listener.
 *
 * Owns the context with the certificate, which can be replaced while connections are open: they
 * keep theirs, handshakes that begin later get the new one, and no earlier session is resumed.
 * Sessions are resumed only at the listener that gave them out. With `need`, a client must have a
 * certificate that the authorities have signed and not revoked; with `want`, a client may have
 * none, but not a bad one. Handshakes have a deadline and a bounded number of places: past it, the
 * oldest one from the address that has most makes room (fair-slots.ts). A few begin in each turn,
 * because each signature blocks the process for a millisecond. Made by WatchedTls, used by
 * SecuringStream.
 */
import { constants, createHash, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { addressText, Fifo } from '@rookery/protocol';
import { addressGroup, plainAddress } from '../security/address-group.js';
import type { TlsMaterial } from '../security/tls-files.js';
import type { FairSlot, FairSlots } from './fair-slots.js';
import { speaksNoTls } from './foreign-protocol.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import type { TlsFailure, TlsFigures } from './server-stats.js';

type ClientAuth = 'none' | 'want' | 'need';

/** How one listener judges clients. */
export interface TlsPolicy {
  /** The listener's name; sessions are not resumed under another one. */
  readonly name: string;
  readonly clientAuth: ClientAuth;
  readonly handshakeTimeoutMs: number;
  /** What a client without TLS should do, for the log. */
  readonly plainAdvice: string;
}

/** A handshake that is under way. */
export interface HandshakeSlot extends FairSlot {
  /** It has lost its place to another one. */
  evict(): void;
}

/** What the acceptors of a port have in common. */
interface AcceptorOwner {
  readonly material: TlsMaterial;
  /** The places for handshakes. */
  readonly slots: FairSlots<HandshakeSlot>;
  readonly figures: TlsFigures;
  readonly rateLimited: RateLimitedLog;
}

/** Data has not been read yet. `certificate` is the client's, verified, or null. */
type OnSecured = (socket: TLSSocket, certificate: Uint8Array | null) => void;

interface Pending extends HandshakeSlot {
  readonly socket: Socket;
  readonly remote: string;
  /** Its addresses, because Node reports a handshake with another socket object. */
  readonly key: string;
  readonly onSecured: OnSecured;
}

/** The handshakes that begin in one turn; each takes about a millisecond. */
const STARTS_PER_TURN = 16;

export class TlsAcceptor {
  readonly #owner: AcceptorOwner;
  readonly #policy: TlsPolicy;
  readonly #server: Server;
  #material: TlsMaterial;
  readonly #pending = new Map<string, Pending>();
  /** The handshakes that begin in one of the next turns. */
  readonly #line = new Fifo<Pending>();
  #isStarting = false;
  /** The handshakes whose sockets were closed in this turn for a reason that is not known yet. */
  readonly #closed = new Fifo<Pending>();

  constructor(owner: AcceptorOwner, policy: TlsPolicy) {
    this.#owner = owner;
    this.#policy = policy;
    this.#material = owner.material;
    this.#server = createServer({
      ...owner.material.options,
      ...this.#optionsFor(owner.material),
      handshakeTimeout: policy.handshakeTimeoutMs,
    });
    this.#server.on('secureConnection', (socket) => this.#onSecured(socket));
    this.#server.on('tlsClientError', (error, socket) => this.#onError(error, socket));
  }

  /** Takes effect for handshakes that begin from now on. Throws what Node throws. */
  renew(material: TlsMaterial): void {
    this.#server.setSecureContext({ ...material.options, ...this.#optionsFor(material) });
    this.#material = material;
  }

  /**
   * The socket may have bytes that were read and put back. It is the acceptor's from now on. If it
   * is refused, it is destroyed, and the reason is counted and logged.
   */
  accept(socket: Socket, onSecured: OnSecured): void {
    const { figures, slots } = this.#owner;
    const pending: Pending = {
      socket,
      onSecured,
      remote: remoteText(socket),
      key: endpointsText(socket),
      group: addressGroup(socket.remoteAddress ?? ''),
      evict: () => this.#refuse(pending, 'too_many', 'its address has most of those under way'),
    };
    // A client has used its address again, or was gone so soon that its address is not known.
    const former = this.#pending.get(pending.key);
    if (former !== undefined) this.#refuse(former, 'closed', 'the connection was closed');
    figures.underWay += 1;
    this.#pending.set(pending.key, pending);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#onClosed(pending));
    slots.add(pending)?.evict();
    this.#line.push(pending);
    this.#startSoon();
  }

  #optionsFor({ isPkcs12 }: TlsMaterial): TlsOptions {
    const { name, clientAuth } = this.#policy;
    const requestCert = clientAuth !== 'none';
    // A resumed session has no chain, which #isTrusted needs.
    const noTicket = requestCert && isPkcs12 ? constants.SSL_OP_NO_TICKET : 0;
    return {
      requestCert,
      rejectUnauthorized: clientAuth === 'need',
      sessionIdContext: createHash('sha256').update(name).digest('hex').slice(0, 32),
      // A handshake on an open connection would wait for no turn and need no place.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION | noTicket,
    };
  }

  #startSoon(): void {
    if (this.#isStarting || this.#line.length === 0) return;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      let left = STARTS_PER_TURN;
      while (left > 0) {
        const pending = this.#line.shift();
        if (pending === undefined) return;
        if (pending.socket.destroyed) continue;
        left -= 1;
        // A client that ends its side before the handshake is over has gone; later it may wait for
        // its answers, and #onSecured allows that again.
        pending.socket.allowHalfOpen = false;
        this.#server.emit('connection', pending.socket);
      }
      this.#startSoon();
    });
  }

  #onSecured(socket: TLSSocket): void {
    const pending = this.#pending.get(endpointsText(socket));
    if (pending === undefined) {
      socket.destroy();
      return;
    }
    const { figures, slots } = this.#owner;
    const { clientAuth } = this.#policy;
    const certificate = socket.getPeerX509Certificate();
    // Node reports one and the same error for no certificate and for an untrusted one.
    if (certificate === undefined && clientAuth === 'need') {
      return this.#refuse(pending, 'no_certificate', 'the client has none');
    }
    // A session that is resumed again and again is not verified again.
    if (certificate !== undefined && Date.parse(certificate.validTo) <= Date.now()) {
      return this.#refuse(pending, 'bad_certificate', 'CERT_HAS_EXPIRED');
    }
    if (certificate !== undefined && !this.#isTrusted(socket)) {
      const reason = String(socket.authorizationError ?? 'its authority is not in caFile');
      return this.#refuse(pending, 'bad_certificate', reason);
    }
    this.#pending.delete(pending.key);
    slots.delete(pending);
    figures.underWay -= 1;
    figures.secured += 1;
    if (socket.isSessionReused()) figures.resumed += 1;
    socket.allowHalfOpen = true;
    // Another handshake is an error from now on, which ends the connection: OpenSSL would answer
    // each attempt with an alert, and what a client does not read of these has no bound.
    socket.disableRenegotiation();
    pending.onSecured(socket, certificate?.raw ?? null);
  }

  /** Node trusts whatever a PKCS#12 file contains beside the certificate, so the chain is read. */
  #isTrusted(socket: TLSSocket): boolean {
    if (!socket.authorized) return false;
    if (!this.#material.isPkcs12) return true;
    return isSignedByOneOf(this.#material.authorities, socket.getPeerCertificate(true));
  }

  #onError(error: Error, socket: TLSSocket): void {
    const pending = this.#pending.get(endpointsText(socket)) ?? this.#closed.shift();
    const refusal = socket.authorizationError;
    socket.destroy();
    if (pending === undefined) return;
    if (refusal) this.#refuse(pending, 'bad_certificate', String(refusal));
    else this.#refuse(pending, kindOf(error), this.#reasonOf(error));
  }

  #reasonOf(error: Error): string {
    const code = codeOf(error);
    if (!speaksNoTls(error)) return code;
    return `${code}: what came is no TLS; ${this.#policy.plainAdvice}`;
  }

  /** If a handshake has failed, Node closes the socket first and says why in the same turn. */
  #onClosed(pending: Pending): void {
    if (this.#pending.get(pending.key) !== pending) return;
    this.#closed.push(pending);
    setImmediate(() => {
      if (this.#closed.first === pending) this.#closed.shift();
      this.#refuse(pending, 'closed', 'the connection was closed');
    });
  }

  #refuse(pending: Pending, kind: TlsFailure, reason: string): void {
    if (this.#pending.get(pending.key) !== pending) return;
    this.#pending.delete(pending.key);
    const { figures, rateLimited, slots } = this.#owner;
    slots.delete(pending);
    figures.underWay -= 1;
    figures.failed(kind);
    const facts = { remote: pending.remote, kind, reason };
    rateLimited.warn('tls.refused', facts, `tls.refused ${kind}`);
    pending.socket.destroy();
  }
}

function remoteText(socket: Socket): string {
  return addressText(plainAddress(socket.remoteAddress ?? 'unknown'), socket.remotePort ?? 0);
}

/** No two open connections have the same. */
function endpointsText(socket: Socket): string {
  return `${remoteText(socket)} ${socket.localAddress} ${socket.localPort}`;
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message;
}

function kindOf(error: Error): TlsFailure {
  const code = codeOf(error);
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'timeout';
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return 'no_certificate';
  // An alert is what the client thinks of this member's certificate.
  if (code.includes('ALERT')) return 'alert';
  return code === 'ECONNRESET' ? 'closed' : 'protocol';
}

/** What Node reports of a certificate; the last one of a whole chain is its own issuer. */
interface ChainLink {
  /** DER. */
  readonly raw: Uint8Array;
  readonly fingerprint256: string;
  readonly issuerCertificate?: ChainLink;
}

/** More than any chain that OpenSSL verifies has. */
const CHAIN_MAX = 100;

/**
 * Whether one of the authorities of `caFile` is in the chain of a certificate that Node has
 * verified.
 *
 * Node trusts every certificate inside a PKCS#12 file, so a side that has one looks at the chain
 * itself: when it accepts, and when it dials (watched-tls.ts). The chain that Node reports is not
 * the one that it has verified: Node joins the certificates that the other side sent by the names
 * of their issuers. So the signatures are verified here; otherwise a forged certificate in between
 * would pass.
 */
export function isSignedByOneOf(authorities: ReadonlySet<string>, certificate: ChainLink): boolean {
  let link = certificate;
  for (let length = 0; length < CHAIN_MAX; length++) {
    if (authorities.has(link.fingerprint256)) return true;
    const issuer = link.issuerCertificate;
    if (issuer === undefined || issuer === link || !isSignedBy(issuer, link)) return false;
    link = issuer;
  }
  return false;
}

function isSignedBy(issuer: ChainLink, link: ChainLink): boolean {
  try {
    const { publicKey } = new X509Certificate(issuer.raw);
    return new X509Certificate(link.raw).verify(publicKey);
  } catch {
    // The issuer's key is of a kind that Node does not know.
    return false;
  }
}
