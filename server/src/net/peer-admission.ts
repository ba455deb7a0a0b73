/**
 * Admission at the peer port: a connection proves that it is a member's before its hello.
 *
 * Owns the accepted links that are not admitted yet, which are bounded, and every exchange of
 * proofs that is under way. Before a proof, only a few short frames are read, in the order of
 * `peer-authentication.ts` and before a deadline. The operator decides which ways are open; a
 * dialler tries one after the other until it is let in. The port judges hellos, sends refusals, and
 * never sees what does not pass here. Called by PeerPort.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Hello, PeerId } from '@rookery/protocol';
import { encodePeerFrame, type LinkMessage, NONCE_BYTES } from '@rookery/protocol/peer';
import { FairSlots } from './fair-slots.js';
import {
  AcceptorAuthentication,
  DiallerAuthentication,
  type PeerAuthentication,
  type Prover,
} from './peer-authentication.js';
import { certificateProblem } from './peer-certificate.js';
import { NEEDS_PROOF, type PeerLink } from './peer-link.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import { type Address, type ListenTls, TlsDialError } from './transport.js';
import type { PeerTls } from './watched-tls.js';

/**
 * `tls`: both sides have certificates with the names of members. `secret`: both prove that they
 * know one. `none`: every hello is believed.
 */
export type PeerWay = 'tls' | 'secret' | 'none';

export interface PeerSecurity {
  /** The ways that this member accepts, at least one; as a dialler it tries them in this order. */
  readonly ways: readonly PeerWay[];
  /** Read at each proof, as the files may have changed; at least one where that way is open. */
  readonly secrets: () => readonly Uint8Array[];
  readonly randomBytes: (count: number) => Uint8Array;
  /** Null unless that way is open. */
  readonly tls: PeerTls | null;
}

/** The member that admits others. */
export interface AdmittingMember {
  readonly id: PeerId;
  /** The other members in the config file. */
  readonly peers: ReadonlyMap<PeerId, Address>;
  readonly security: PeerSecurity;
  /** Accepted links that are not admitted, at least one. Their places are those of FairSlots. */
  readonly unprovenMax: number;
  identity(): { readonly ensembleId: string };
}

/** A link does not pass. `peer` is the id that the other side claims, 0 if it claims none. */
interface Refusal {
  readonly kind: 'refused';
  readonly peer: PeerId;
  readonly reason: string;
}

/** Enough for any frame of the exchange, and all that a stranger can make a member buffer. */
export const PROOF_BYTES_MAX = 512;

const KNOWS_NO_PROOF = 'this member has no secret: set peerAuth in the file of both members';

export class PeerAdmission {
  readonly #member: AdmittingMember;
  readonly #rateLimited: RateLimitedLog;
  readonly #unproven: FairSlots<PeerLink>;
  readonly #exchanges = new Map<PeerLink, PeerAuthentication>();
  /** How many ways to each member have failed since it was last connected. */
  readonly #failures = new Map<PeerId, number>();

  constructor(member: AdmittingMember, rateLimited: RateLimitedLog) {
    this.#member = member;
    this.#rateLimited = rateLimited;
    this.#unproven = new FairSlots(member.unprovenMax);
  }

  /** Whether a connection must prove itself before its hello. */
  get needsProof(): boolean {
    return !this.#member.security.ways.includes('none');
  }

  /**
   * Makes room for an accepted link. Members say something at once, so the oldest link of the
   * address that has most is dropped.
   */
  onAccepted(link: PeerLink): void {
    const evicted = this.#unproven.add(link);
    if (evicted === null) return;
    const facts = { remote: evicted.remote, unproven: this.#unproven.size };
    this.#rateLimited.warn('peer.too_many_unproven', facts);
    evicted.drop('newer strangers came');
  }

  /** How the member is dialled next. */
  wayTo(peer: PeerId): PeerWay {
    const { ways } = this.#member.security;
    return ways[(this.#failures.get(peer) ?? 0) % ways.length] ?? 'none';
  }

  /** The listener's TLS; undefined where it has none. */
  get listenTls(): ListenTls | undefined {
    const { tls, ways } = this.#member.security;
    if (tls === null) return undefined;
    return { acceptor: tls.acceptor, allowsPlain: ways.some((way) => way !== 'tls') };
  }

  /** How the member is dialled next; null for without TLS. */
  dialTls(peer: PeerId): ConnectionOptions | null {
    const isNext = this.wayTo(peer) === 'tls';
    return isNext ? (this.#member.security.tls?.dialOptions() ?? null) : null;
  }

  /** A connection that comes up and whose TLS fails is tried in the next way. */
  onDialFailed(peer: PeerId, error: unknown): void {
    if (error instanceof TlsDialError) this.#failed(peer);
  }

  /** The first frame to a member that was dialled; null where that is the hello. */
  onDialled(link: PeerLink, peer: PeerId, way: PeerWay): Uint8Array | null {
    if (way === 'none' || link.certificate !== null) return null;
    const exchange = new DiallerAuthentication(this.#prover(), peer);
    this.#exchanges.set(link, exchange);
    return encodePeerFrame(exchange.claim);
  }

  /**
   * Handles a message that arrives before the hello is awaited. Returns a hello for the port to
   * judge, `proven` when the proofs are complete, a refusal for the port to send, or null.
   */
  onMessage(link: PeerLink, message: LinkMessage): Hello | 'proven' | Refusal | null {
    const { security } = this.#member;
    let exchange = this.#exchanges.get(link);
    if (exchange === undefined) {
      if (message.kind === 'hello' && link.certificate !== null) {
        const problem = this.certificateProblem(link, message.id);
        return problem === null ? this.#admitted(link, message) : refused(message.id, problem);
      }
      if (message.kind === 'hello' && !this.needsProof) {
        link.awaitHello(null);
        return message;
      }
      if (message.kind !== 'claim') {
        const reason = this.needsProof ? NEEDS_PROOF : `a ${message.kind} comes before the hello`;
        return refused(0, reason);
      }
      if (!security.ways.includes('secret')) return refused(message.id, KNOWS_NO_PROOF);
      exchange = new AcceptorAuthentication(this.#prover());
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

  /** Why the certificate at the other end is not that of this member; null if it is. */
  certificateProblem({ certificate }: PeerLink, id: PeerId): string | null {
    if (certificate === null) return null;
    const { peers, security } = this.#member;
    const ensemble = security.tls?.ensemble ?? null;
    return certificateProblem(certificate, { id, ensemble, host: peers.get(id)?.host ?? null });
  }

  #admitted(link: PeerLink, hello: Hello): Hello | null {
    this.#unproven.delete(link);
    link.awaitHello({ id: hello.id, ensembleId: null });
    return link.phase === 'hello' ? hello : null;
  }

  #failed(peer: PeerId): void {
    this.#failures.set(peer, (this.#failures.get(peer) ?? 0) + 1);
  }

  #advance(
    link: PeerLink,
    exchange: PeerAuthentication,
    message: LinkMessage,
  ): 'proven' | Refusal | null {
    const step = exchange.next(message);
    if (step.kind === 'refused') {
      this.#exchanges.delete(link);
      return refused(message.kind === 'claim' ? message.id : 0, step.reason);
    }
    if (step.answer !== null) link.write(encodePeerFrame(step.answer));
    if (step.kind === 'answer') return null;
    this.#exchanges.delete(link);
    this.#unproven.delete(link);
    link.awaitHello(step.peer);
    return link.phase === 'hello' ? 'proven' : null;
  }

  #prover(): Prover {
    const { id, security } = this.#member;
    const nonce = security.randomBytes(NONCE_BYTES);
    const ensembleId = () => this.#member.identity().ensembleId;
    return { id, ensembleId, secrets: security.secrets(), nonce };
  }
}

function refused(peer: PeerId, reason: string): Refusal {
  return { kind: 'refused', peer, reason };
}
