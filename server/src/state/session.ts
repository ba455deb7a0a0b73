/** A session, as every replica knows it. */
export interface Session extends OpenedSession {
  /** Its end is decided and its ephemerals are being deleted: it does nothing more. */
  readonly isClosing: boolean;
}

/** What is given to it when it is created, and never changes. */
export interface OpenedSession {
  readonly timeoutMs: number;
  /** PASSWORD_BYTES long. */
  readonly password: Uint8Array;
}

export const PASSWORD_BYTES = 16;
