/**
 * Authenticates connections: the identities of each are its address and what it has proved since.
 *
 * Authentication is decided when its packet comes, so that it holds for whatever is sent after it;
 * the answer takes its place in the session's order. Identities belong to the connection: a session
 * that is resumed elsewhere starts without them. Called by Logins and by the REST API.
 */
import {
  AuthPacket,
  type ClientInfo,
  DIGEST_ALGS,
  type DigestAlg,
  decode,
  type Identity,
  MarshallingError,
} from '@rookery/protocol';
import { plainAddress } from '../security/address-group.js';
import type { SaslExchange, SaslServer } from '../security/sasl.js';
import { type Identities, type Requester, SUPER_SCHEME } from './access.js';
import { withoutFormerDigests } from './former-digests.js';

/** The id of `user:password` as ACLs store it: `user:` and the digest of the whole in base64. */
export type DigestOf = (userAndPassword: string, algorithm: DigestAlg) => string;

/** Judges passwords of the super user by a hash that takes long to compute, and so elsewhere. */
export interface SuperPassword {
  /** Null while that is not known: it is being computed, and has to be asked again. */
  isRight(userAndPassword: string, address: string): boolean | null;
}

export interface AuthenticatorParts {
  readonly digestOf: DigestOf;
  /** The algorithms by which a password proves something, the preferred one first. */
  readonly digestAlgs?: readonly DigestAlg[];
  /** The digest of the super user by any algorithm, or null if there is none. */
  readonly superDigest: string | null;
  /** Judges passwords of the super user where `superDigest` is no digest but a slow hash. */
  readonly superPassword?: SuperPassword | null;
  /** Further identities that may do everything, as `scheme:id`. */
  readonly superIdentities?: ReadonlySet<string>;
  /** How clients authenticate in several steps; null if they cannot. */
  readonly sasl?: SaslServer | null;
}

/** What an accepted packet makes of a connection. */
interface Authenticated {
  readonly identities: Identities;
  /**
   * It names a user who may do everything, with a password that is not that user's. It is accepted
   * nevertheless, as in ZooKeeper, because everybody may choose a user and a password.
   */
  readonly isWrongSuper: boolean;
}

/** What becomes of a connection that sent a token of SASL. */
type SaslOutcome =
  | { readonly kind: 'answer'; readonly token: Uint8Array; readonly identities: Identities }
  /** The answer is -115, and the connection ends. */
  | { readonly kind: 'refused' };

/** Every request carries its connection's identities, so they have a bound, in bytes of UTF-8. */
export const IDENTITY_BYTES_MAX = 8192;
/** An AuthPacket with more is refused unread: all of its text is hashed, several times. */
const AUTH_PACKET_BYTES_MAX = 2 * IDENTITY_BYTES_MAX;

const NOBODY: Identities = [];
const DIGEST_PREFIX = 'digest:';

/** What a packet says of its sender. */
interface Claim {
  readonly proven: Identities;
  readonly isSuper: boolean;
  /** It names a user who may do everything. */
  readonly isOfSuper: boolean;
}

/** What every connection is known to be, from its first request on. */
export function identitiesOf(remoteAddress: string): Identities {
  return remoteAddress === '' ? NOBODY : [{ scheme: 'ip', id: plainAddress(remoteAddress) }];
}

export class Authenticator {
  readonly #parts: AuthenticatorParts;
  readonly #digestAlgs: readonly DigestAlg[];
  /** Users of the digest scheme who may do everything. */
  readonly #superUsers: ReadonlySet<string>;
  #failures = 0;

  constructor(parts: AuthenticatorParts) {
    const { digestAlgs = ['SHA1'], superDigest, superIdentities = [] } = parts;
    this.#parts = parts;
    this.#digestAlgs = digestAlgs;
    const digests = [...superIdentities].filter((one) => one.startsWith(DIGEST_PREFIX));
    const ids = digests.map((one) => one.slice(DIGEST_PREFIX.length));
    if (superDigest !== null) ids.push(superDigest);
    this.#superUsers = new Set(ids.map((id) => userOf('digest', id)));
  }

  /** The number of attempts that were refused so far. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * `body` is an AuthPacket. Returns null if it is refused: the answer is -115, and the connection
   * ends.
   */
  authenticate(body: Uint8Array, before: Identities, address = ''): Authenticated | null {
    const packet = readPacket(body);
    const claimed = packet === null ? null : this.#claimedBy(packet, address);
    const after = claimed === null ? null : this.#joined(before, claimed.proven, claimed.isSuper);
    if (claimed === null || after === null) {
      this.#failures += 1;
      return null;
    }
    const isKnown = claimed.proven.every((one) => before.some((had) => isSame(had, one)));
    const isWrongSuper = claimed.isOfSuper && !claimed.isSuper && !isKnown;
    return { identities: after, isWrongSuper };
  }

  /** Adds identities that a connection has proved; null if they are too many or too long. */
  join(before: Identities, gained: Identities): Identities | null {
    return this.#joined(
      before,
      gained,
      gained.some((one) => this.#isSuper(one)),
    );
  }

  /** Whether the text is `user:password` of a user who may do everything, right or wrong. */
  namesSuper(userAndPassword: string): boolean {
    return this.#superUsers.has(userOf('digest', userAndPassword));
  }

  /** The user whose password an AuthPacket may guess; null for an ordinary digest or no packet. */
  guessedUser(body: Uint8Array): string | null {
    const packet = readPacket(body);
    if (packet === null || packet.scheme !== 'digest' || packet.auth === null) return null;
    const text = Buffer.from(packet.auth).toString('utf8');
    return this.namesSuper(text) ? userOf('digest', text) : null;
  }

  /** Whether what an AuthPacket claims can be judged at once; if not, it can be soon. */
  isJudged(body: Uint8Array, address: string): boolean {
    const { superPassword = null } = this.#parts;
    const packet = superPassword === null ? null : readPacket(body);
    if (superPassword === null || packet === null || packet.auth === null) return true;
    const text = Buffer.from(packet.auth).toString('utf8');
    return !this.namesSuper(text) || superPassword.isRight(text, address) !== null;
  }

  get hasSasl(): boolean {
    return (this.#parts.sasl ?? null) !== null;
  }

  /** Takes a token of `connection`, whose exchange begins with the first one. */
  answerSasl(
    connection: { exchange: SaslExchange | null; readonly requester: Requester },
    token: Uint8Array,
  ): SaslOutcome {
    const { identities } = connection.requester;
    connection.exchange ??= this.#parts.sasl?.begin() ?? null;
    const answer = connection.exchange?.answer(token) ?? { kind: 'refused', reason: '' };
    if (answer.kind === 'challenge') return { kind: 'answer', token: answer.token, identities };
    connection.exchange = null;
    const after =
      answer.kind === 'done' ? this.join(identities, [{ scheme: 'sasl', id: answer.user }]) : null;
    if (answer.kind === 'done' && after !== null) {
      return { kind: 'answer', token: answer.token, identities: after };
    }
    this.#failures += 1;
    return { kind: 'refused' };
  }

  #joined(before: Identities, gained: Identities, isSuper: boolean): Identities | null {
    const all: Identities = isSuper ? [{ scheme: SUPER_SCHEME, id: '' }, ...gained] : gained;
    const after = joined(before, all);
    return identityBytesOf(after) > IDENTITY_BYTES_MAX ? null : after;
  }

  #claimedBy({ scheme, auth }: AuthPacket, address: string): Claim | null {
    // The address of a connection is known anyway.
    if (scheme === 'ip') return { proven: NOBODY, isSuper: false, isOfSuper: false };
    if (scheme !== 'digest' || auth === null) return null;
    const text = Buffer.from(auth).toString('utf8');
    const identityBy = (algorithm: DigestAlg): Identity => {
      return { scheme: 'digest', id: this.#parts.digestOf(text, algorithm) };
    };
    const isOfSuper = this.namesSuper(text);
    // The digest of a super user may be by an algorithm that ACLs do not use.
    const isSuper =
      isOfSuper &&
      (DIGEST_ALGS.some((one) => this.#isSuper(identityBy(one))) ||
        this.#parts.superPassword?.isRight(text, address) === true);
    return { proven: this.#digestAlgs.map(identityBy), isSuper, isOfSuper };
  }

  #isSuper({ scheme, id }: Identity): boolean {
    const { superDigest, superIdentities } = this.#parts;
    if (scheme === 'digest' && id === superDigest) return true;
    return superIdentities?.has(`${scheme}:${id}`) === true;
  }
}

/** The `user` of each identity, without anything secret: the answer of whoAmI. */
export function clientInfoOf(identities: Identities): readonly ClientInfo[] {
  return withoutFormerDigests(identities).map(({ scheme, id }) => ({
    authScheme: scheme,
    user: userOf(scheme, id),
  }));
}

function userOf(scheme: string, id: string): string {
  return scheme === 'digest' ? (id.split(':')[0] ?? '') : id;
}

/** The newest first, the address last. */
function joined(before: Identities, gained: Identities): Identities {
  const fresh = gained.filter((one) => !before.some((had) => isSame(had, one)));
  return fresh.length === 0 ? before : [...fresh, ...before];
}

function isSame(one: Identity, other: Identity): boolean {
  return one.scheme === other.scheme && one.id === other.id;
}

/** In bytes of UTF-8, without the lengths of its strings. */
export function identityBytesOf(identities: Identities): number {
  let bytes = 0;
  for (const { scheme, id } of identities) {
    bytes += Buffer.byteLength(scheme) + Buffer.byteLength(id);
  }
  return bytes;
}

function readPacket(body: Uint8Array): AuthPacket | null {
  if (body.length > AUTH_PACKET_BYTES_MAX) return null;
  try {
    return decode(AuthPacket, body);
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}
