/**
 * Two members prove to each other that both know a secret, before their hellos.
 *
 * The dialler claims an id, the accepting side answers with a challenge, the dialler proves itself
 * first, and then the accepting side does: a stranger that connects gets random bytes and nothing
 * else. A proof is an HMAC-SHA-256 code over the sender's role, both ids, both nonces and the
 * ensemble ids, so a recorded one is worthless on any other link, in the other direction, and for
 * another member. The codes protect this exchange, not what is sent on the link afterwards: that
 * needs TLS. Pure but for the codes. Called by PeerAdmission.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  assert,
  type Challenge,
  type Claim,
  type Hello,
  type PeerId,
  type Proof,
} from '@rookery/protocol';
import { type LinkMessage, SECRETS_MAX } from '@rookery/protocol/peer';

/** What the member at the other end of a link has proved to be. */
export interface ProvenPeer {
  readonly id: PeerId;
  /** Null where it was not part of the proof. */
  readonly ensembleId: string | null;
}

/** A member whose ensemble has changed since its proof connects again. */
export function isProvenBy(proven: ProvenPeer, { id, ensembleId }: Hello): boolean {
  return proven.id === id && (proven.ensembleId ?? ensembleId) === ensembleId;
}

export type AuthenticationStep =
  | { readonly kind: 'answer'; readonly answer: Challenge | Proof }
  /** The accepting side sends its own proof now. */
  | { readonly kind: 'proven'; readonly peer: ProvenPeer; readonly answer: Proof | null }
  /** The reason reveals nothing to a stranger. */
  | { readonly kind: 'refused'; readonly reason: string };

/** One side of an exchange, by what it proves itself. */
export interface Prover {
  readonly id: PeerId;
  /** Read when this side proves itself; '' before the member has one. */
  readonly ensembleId: () => string;
  /** At least one; the dialler sends a code by each of them. */
  readonly secrets: readonly Uint8Array[];
  /** NONCE_BYTES random bytes, for this link only. */
  readonly nonce: Uint8Array;
}

export interface PeerAuthentication {
  next(message: LinkMessage): AuthenticationStep;
}

/** Everything that a code covers, except the role of its sender. */
interface Exchange {
  readonly dialler: PeerId;
  readonly acceptor: PeerId;
  readonly diallerNonce: Uint8Array;
  readonly acceptorNonce: Uint8Array;
  readonly diallerEnsemble: string;
  /** '' in the code of the dialler, which does not know it yet. */
  readonly acceptorEnsemble: string;
}

type Role = 'dialler' | 'acceptor';

const WRONG_SECRET = 'the secrets of the two members differ: check the files of peerAuth';

/** The exchange as seen by the side that dials `dialled`; its first frame is the claim. */
export class DiallerAuthentication implements PeerAuthentication {
  readonly claim: Claim;
  readonly #own: Prover;
  readonly #dialled: PeerId;
  #exchange: Exchange | null = null;

  constructor(own: Prover, dialled: PeerId) {
    this.#own = own;
    this.#dialled = dialled;
    this.claim = { kind: 'claim', id: own.id, to: dialled, nonce: own.nonce };
  }

  next(message: LinkMessage): AuthenticationStep {
    if (this.#exchange === null) {
      return message.kind === 'challenge' ? this.#onChallenge(message) : outOfOrder(message);
    }
    return message.kind === 'proof' ? this.#onProof(message, this.#exchange) : outOfOrder(message);
  }

  #onChallenge({ nonce }: Challenge): AuthenticationStep {
    const { id, secrets } = this.#own;
    const ensembleId = this.#own.ensembleId();
    const exchange = {
      dialler: id,
      acceptor: this.#dialled,
      diallerNonce: this.#own.nonce,
      acceptorNonce: nonce,
      diallerEnsemble: ensembleId,
      acceptorEnsemble: '',
    };
    this.#exchange = exchange;
    const codes = secrets.slice(0, SECRETS_MAX).map((one) => codeOf(one, 'dialler', exchange));
    return { kind: 'answer', answer: { kind: 'proof', ensembleId, codes } };
  }

  #onProof({ ensembleId, codes }: Proof, sent: Exchange): AuthenticationStep {
    const exchange = { ...sent, acceptorEnsemble: ensembleId };
    const matching = matchingSecret(this.#own.secrets, codes, 'acceptor', exchange);
    if (matching === null) return { kind: 'refused', reason: WRONG_SECRET };
    return { kind: 'proven', peer: { id: this.#dialled, ensembleId }, answer: null };
  }
}

/** The exchange as seen by the side that was dialled. */
export class AcceptorAuthentication implements PeerAuthentication {
  readonly #own: Prover;
  #claim: Claim | null = null;

  constructor(own: Prover) {
    this.#own = own;
  }

  next(message: LinkMessage): AuthenticationStep {
    if (this.#claim === null) {
      return message.kind === 'claim' ? this.#onClaim(message) : outOfOrder(message);
    }
    return message.kind === 'proof' ? this.#onProof(message, this.#claim) : outOfOrder(message);
  }

  #onClaim(claim: Claim): AuthenticationStep {
    const { id, nonce } = this.#own;
    if (claim.to !== id || claim.id === id) {
      return { kind: 'refused', reason: 'another member is dialled: check the addresses' };
    }
    this.#claim = claim;
    return { kind: 'answer', answer: { kind: 'challenge', nonce } };
  }

  #onProof({ ensembleId, codes }: Proof, claim: Claim): AuthenticationStep {
    const { id, secrets, nonce } = this.#own;
    const exchange = {
      dialler: claim.id,
      acceptor: id,
      diallerNonce: claim.nonce,
      acceptorNonce: nonce,
      diallerEnsemble: ensembleId,
      acceptorEnsemble: '',
    };
    const secret = matchingSecret(secrets, codes, 'dialler', exchange);
    if (secret === null) return { kind: 'refused', reason: WRONG_SECRET };
    const acceptorEnsemble = this.#own.ensembleId();
    const code = codeOf(secret, 'acceptor', { ...exchange, acceptorEnsemble });
    const answer: Proof = { kind: 'proof', ensembleId: acceptorEnsemble, codes: [code] };
    return { kind: 'proven', peer: { id: claim.id, ensembleId }, answer };
  }
}

function outOfOrder({ kind }: LinkMessage): AuthenticationStep {
  return { kind: 'refused', reason: `members prove here who they are: a ${kind} comes too early` };
}

/** The secret by which one of the codes was made; null if there is none. */
function matchingSecret(
  secrets: readonly Uint8Array[],
  codes: readonly Uint8Array[],
  role: Role,
  exchange: Exchange,
): Uint8Array | null {
  for (const secret of secrets) {
    const expected = codeOf(secret, role, exchange);
    if (codes.some((code) => timingSafeEqual(code, expected))) return secret;
  }
  return null;
}

/** Each part has a fixed length or is preceded by its own, so no two exchanges read the same. */
function codeOf(secret: Uint8Array, role: Role, exchange: Exchange): Uint8Array {
  assert(secret.length > 0, 'a secret has bytes');
  const { dialler, acceptor, diallerNonce, acceptorNonce } = exchange;
  const hmac = createHmac('sha256', secret);
  hmac.update(`rookery peer authentication 1 ${role} ${dialler} ${acceptor} `);
  hmac.update(diallerNonce).update(acceptorNonce);
  for (const ensemble of [exchange.diallerEnsemble, exchange.acceptorEnsemble]) {
    const bytes = Buffer.from(ensemble, 'utf8');
    hmac.update(`${bytes.length} `).update(bytes);
  }
  return hmac.digest();
}
