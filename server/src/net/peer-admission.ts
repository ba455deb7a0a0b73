/**
 * Admission at the peer port: how a connection proves to be a member's, before its hello.
 *
 * Owns the accepted links that are not admitted yet, which have a bound, and every exchange of
 * proofs that is under way. Before a proof nothing is read but a few short frames in the order of
 * `peer-authentication.ts`; the link has a deadline for them. Which ways are open is the operator's
 * decision; a dialler tries one after the other until it is let in. The port judges hellos and
 * never sees what does not pass here. Called by PeerPort.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Hello, PeerId } from '@rookery/protocol';
import { encodePeerFrame, type LinkMessage, NONCE_BYTES } from '@rookery/protocol/peer';
import { FairSlots } from './fair-slots.js';
import {
  AcceptorAuthentication,
  type AuthenticationParts,
  DiallerAuthentication,
  type PeerAuthentication,
} from './peer-authentication.js';
import { certificateProblem } from './peer-certificate.js';
import { NEEDS_PROOF, type PeerLink } from './peer-link.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import { type ListenTls, TlsDialError } from './transport.js';
import type { PeerTls } from './watched-tls.js';

/**
 * `tls`: both sides have certificates with the names of members. `secret`: both prove that they
 * know one. `none`: whoever comes is believed.
 */
export type PeerWay = 'tls' | 'secret' | 'none';

export interface PeerSecurity {
  /** The ways that this member accepts, at least one; as a dialler it tries them in this order. */
  readonly ways: readonly PeerWay[];
  /** Read at each proof, as the files may have changed; at least one where that way is open. */
  readonly secrets: () => readonly Uint8Array[];
  readonly randomBytes: (count: number) => Uint8Array;
  /** Null unless that way is open. */
  readonly tls: Pick<PeerTls, 'acceptor' | 'dialOptions' | 'ensemble'> | null;
}

export interface PeerAdmissionParts {
  readonly id: PeerId;
  readonly security: PeerSecurity;
  readonly ensembleId: () => string;
  /** Returns the host of another member in the config file; null for a stranger. */
  readonly hostOf: (peer: PeerId) => string | null;
  /** Accepted links that are not admitted, at least one. Their places are those of FairSlots. */
  readonly unprovenMax: number;
  readonly rateLimited: RateLimitedLog;
  /** Tells both sides; `peer` is who the other one claims to be, 0 if it does not say. */
  refuse(link: PeerLink, peer: PeerId, reason: string): void;
}

/** Enough for any frame of the exchange. A stranger cannot make a member read more. */
export const PROOF_BYTES_MAX = 512;

const KNOWS_NO_PROOF = 'this member has no secret: set peerAuth in the file of both members';

export class PeerAdmission {
  readonly #parts: PeerAdmissionParts;
  readonly #unproven: FairSlots<PeerLink>;
  readonly #exchanges = new Map<PeerLink, PeerAuthentication>();
  /** How many ways to each member were tried in vain since it was connected last. */
  readonly #failures = new Map<PeerId, number>();

  constructor(parts: PeerAdmissionParts) {
    this.#parts = parts;
    this.#unproven = new FairSlots(parts.unprovenMax);
  }

  /** Whether whoever connects must prove itself before its hello. */
  get needsProof(): boolean {
    return !this.#parts.security.ways.includes('none');
  }

  /**
   * Makes room for an accepted link. Members say something at once, so the oldest link of the
   * address that has most is dropped.
   */
  onAccepted(link: PeerLink): void {
    const evicted = this.#unproven.add(link);
    if (evicted === null) return;
    const facts = { remote: evicted.remote, unproven: this.#unproven.size };
    this.#parts.rateLimited.warn('peer.too_many_unproven', facts);
    evicted.drop('newer strangers came');
  }

  /** How the member is dialled next. */
  wayTo(peer: PeerId): PeerWay {
    const { ways } = this.#parts.security;
    return ways[(this.#failures.get(peer) ?? 0) % ways.length] ?? 'none';
  }

  /** The listener's TLS; undefined where it has none. */
  get listenTls(): ListenTls | undefined {
    const { tls, ways } = this.#parts.security;
    if (tls === null) return undefined;
    return { acceptor: tls.acceptor, allowsPlain: ways.some((way) => way !== 'tls') };
  }

  /** How the member is dialled next; null for without TLS. */
  dialTls(peer: PeerId): ConnectionOptions | null {
    const isNext = this.wayTo(peer) === 'tls';
    return isNext ? (this.#parts.security.tls?.dialOptions() ?? null) : null;
  }

  /** A connection that comes up and whose TLS fails is tried in the next way. */
  onDialFailed(peer: PeerId, error: unknown): void {
    if (error instanceof TlsDialError) this.#failed(peer);
  }

  /** The first frame to a member that was dialled; null where that is the hello. */
  onDialled(link: PeerLink, peer: PeerId, way: PeerWay): Uint8Array | null {
    if (way === 'none' || link.certificate !== null) return null;
    const exchange = new DiallerAuthentication(this.#authenticationParts(), peer);
    this.#exchanges.set(link, exchange);
    return encodePeerFrame(exchange.claim);
  }

  /**
   * Takes what comes on a link before its hello is awaited. Returns a hello that is to be judged as
   * it is, `proven` when the proofs are complete, and null otherwise.
   */
  onMessage(link: PeerLink, message: LinkMessage): Hello | 'proven' | null {
    const { security } = this.#parts;
    let exchange = this.#exchanges.get(link);
    if (exchange === undefined) {
      if (message.kind === 'hello' && link.certificate !== null) {
        return this.isNamed(link, message.id) ? this.#admitted(link, message) : null;
      }
      if (message.kind === 'hello' && !this.needsProof) {
        link.awaitHello(null);
        return message;
      }
      if (message.kind === 'claim' && !security.ways.includes('secret')) {
        this.#parts.refuse(link, message.id, KNOWS_NO_PROOF);
        return null;
      }
      if (message.kind !== 'claim') {
        const reason = this.needsProof ? NEEDS_PROOF : `a ${message.kind} comes before the hello`;
        this.#parts.refuse(link, 0, reason);
        return null;
      }
      exchange = new AcceptorAuthentication(this.#authenticationParts());
      this.#exchanges.set(link, exchange);
    }
    return this.#advance(link, exchange, message);
  }

  /** The link is up: it is no stranger's. */
  onAdmitted(link: PeerLink, peer: PeerId): void {
    this.#unproven.delete(link);
    this.#failures.delete(peer);
  }

  /** `wasUp` is false for a link that was not admitted. */
  onClosed(link: PeerLink, wasUp: boolean): void {
    this.#unproven.delete(link);
    this.#exchanges.delete(link);
    if (!wasUp && link.dialled !== null) this.#failed(link.dialled);
  }

  /** Whether the certificate at the other end is that of this member; refuses the link if not. */
  isNamed(link: PeerLink, id: PeerId): boolean {
    const { certificate } = link;
    if (certificate === null) return true;
    const ensemble = this.#parts.security.tls?.ensemble ?? null;
    const problem = certificateProblem(certificate, { id, ensemble, host: this.#parts.hostOf(id) });
    if (problem !== null) this.#parts.refuse(link, id, problem);
    return problem === null;
  }

  #admitted(link: PeerLink, hello: Hello): Hello | null {
    this.#unproven.delete(link);
    link.awaitHello({ id: hello.id, ensembleId: null });
    return link.phase === 'hello' ? hello : null;
  }

  #failed(peer: PeerId): void {
    this.#failures.set(peer, (this.#failures.get(peer) ?? 0) + 1);
  }

  #advance(link: PeerLink, exchange: PeerAuthentication, message: LinkMessage): 'proven' | null {
    const step = exchange.next(message);
    if (step.kind === 'refused') {
      this.#exchanges.delete(link);
      this.#parts.refuse(link, message.kind === 'claim' ? message.id : 0, step.reason);
      return null;
    }
    if (step.answer !== null) link.write(encodePeerFrame(step.answer));
    if (step.kind === 'answer') return null;
    this.#exchanges.delete(link);
    this.#unproven.delete(link);
    link.awaitHello(step.peer);
    return link.phase === 'hello' ? 'proven' : null;
  }

  #authenticationParts(): AuthenticationParts {
    const { id, security, ensembleId } = this.#parts;
    const nonce = security.randomBytes(NONCE_BYTES);
    return { id, ensembleId, secrets: security.secrets(), nonce };
  }
}
