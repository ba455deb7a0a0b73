/**
 * What a member counts of TLS, at its client port or between members, and when its certificate, its
 * authorities and its revocation lists expire.
 *
 * The kinds of failures are few and fixed, whatever a stranger sends. Written by the acceptors and
 * by whoever loads certificates; read by metrics.
 */

export const TLS_FAILURES = [
  /** The client presented no certificate, and must. */
  'no_certificate',
  /** Its certificate is expired, revoked, or of an authority that is not trusted. */
  'bad_certificate',
  /** It did not finish the handshake in time. */
  'timeout',
  /** It said why it does not go on, mostly that it does not accept this member's certificate. */
  'alert',
  /** It went away without a word, mostly for the same reason. */
  'closed',
  /** It does not speak TLS, or no version and cipher that are allowed here. */
  'protocol',
  /** Too many handshakes were under way. */
  'too_many',
] as const;
export type TlsFailure = (typeof TLS_FAILURES)[number];

export class TlsFigures {
  /** Handshakes that succeeded, and those among them that resumed an earlier session. */
  secured = 0;
  resumed = 0;
  underWay = 0;
  /** Connections that sent frames without TLS where TLS is required. */
  plainRefused = 0;
  /** When the first one of this member's chain of certificates expires, ms since 1970. */
  expiresWallMs = 0;
  /** When the first authority of its `caFile` expires, ms since 1970; null without any. */
  authorityExpiresWallMs: number | null = null;
  /** When the first of its revocation lists expires, ms since 1970; null where none does. */
  listsEndWallMs: number | null = null;
  /** Whether the files of certificates have changed into something that cannot be used. */
  isStale = false;
  readonly #failures = new Map<TlsFailure, number>();

  failed(kind: TlsFailure): void {
    this.#failures.set(kind, this.failures(kind) + 1);
  }

  failures(kind: TlsFailure): number {
    return this.#failures.get(kind) ?? 0;
  }
}
