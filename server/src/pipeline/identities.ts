/**
 * What a connection is known to be: its address, and what it has authenticated as.
 *
 * Authentication is decided when its packet comes, so that it holds for whatever is sent after it;
 * the answer takes its place in the session's order. Identities belong to the connection: a session
 * that is resumed elsewhere starts without them. Called by Pipeline and Requests.
 */
import {
  AuthPacket,
  type ClientInfo,
  decode,
  type Identity,
  MarshallingError,
} from '@rookery/protocol';
import type { SaslExchange, SaslServer } from '../security/sasl.js';
import { type Identities, type Requester, SUPER_SCHEME } from './access.js';
import { plainAddress } from './address-range.js';

export interface AuthenticatorParts {
  /** The id of `user:password` as ACLs store it: `user:` and the base64 SHA-1 of the whole. */
  readonly digestOf: (userAndPassword: string) => string;
  /** The digest of the super user, or null if there is none. */
  readonly superDigest: string | null;
  /** Further identities that may do everything, as `scheme:id`. */
  readonly superIdentities?: ReadonlySet<string>;
  /** How clients authenticate in several steps; null if they cannot. */
  readonly sasl?: SaslServer | null;
}

/** What becomes of a connection that sent a token of SASL. */
export type SaslOutcome =
  | { readonly kind: 'answer'; readonly token: Uint8Array; readonly identities: Identities }
  /** The answer is -115, and the connection ends. */
  | { readonly kind: 'refused' };

/** Every request carries its connection's identities, so they have a bound, in bytes of UTF-8. */
export const IDENTITY_BYTES_MAX = 8192;

const NOBODY: Identities = [];

/** What every connection is known to be, from its first request on. */
export function identitiesOf(remoteAddress: string): Identities {
  return remoteAddress === '' ? NOBODY : [{ scheme: 'ip', id: plainAddress(remoteAddress) }];
}

export class Authenticator {
  readonly #parts: AuthenticatorParts;
  #failures = 0;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  /** The number of attempts that were refused so far. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * `body` is an AuthPacket. Returns null if it is refused: the answer is -115, and the connection
   * ends.
   */
  authenticate(body: Uint8Array, before: Identities): Identities | null {
    const gained = this.#gained(body);
    const after = gained === null ? null : this.join(before, gained);
    if (after === null) this.#failures += 1;
    return after;
  }

  /** Adds identities that a connection has proved; null if they are too many or too long. */
  join(before: Identities, gained: Identities): Identities | null {
    const isSuper = gained.some((one) => this.#isSuper(one));
    const all: Identities = isSuper ? [{ scheme: SUPER_SCHEME, id: '' }, ...gained] : gained;
    const after = joined(before, all);
    return identityBytesOf(after) > IDENTITY_BYTES_MAX ? null : after;
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

  #gained(body: Uint8Array): Identities | null {
    const packet = readPacket(body);
    if (packet === null) return null;
    // The address of a connection is known anyway.
    if (packet.scheme === 'ip') return NOBODY;
    if (packet.scheme !== 'digest' || packet.auth === null) return null;
    const id = this.#parts.digestOf(Buffer.from(packet.auth).toString('utf8'));
    return [{ scheme: 'digest', id }];
  }

  #isSuper({ scheme, id }: Identity): boolean {
    const { superDigest, superIdentities } = this.#parts;
    if (scheme === 'digest' && id === superDigest) return true;
    return superIdentities?.has(`${scheme}:${id}`) === true;
  }
}

/** The `user` of each identity, without anything secret: the answer of whoAmI. */
export function clientInfoOf(identities: Identities): readonly ClientInfo[] {
  return identities.map(({ scheme, id }) => ({ authScheme: scheme, user: userOf(scheme, id) }));
}

function userOf(scheme: string, id: string): string {
  return scheme === 'digest' ? (id.split(':')[0] ?? '') : id;
}

/** The newest first, the address last. */
function joined(before: Identities, gained: Identities): Identities {
  const fresh = gained.filter(
    (one) => !before.some(({ scheme, id }) => scheme === one.scheme && id === one.id),
  );
  return fresh.length === 0 ? before : [...fresh, ...before];
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
  try {
    return decode(AuthPacket, body);
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}
