/** A session, as every replica knows it. Immutable from its creation to its end. */
export interface Session {
  readonly timeoutMs: number;
  /** PASSWORD_BYTES long. */
  readonly password: Uint8Array;
}

export const PASSWORD_BYTES = 16;
