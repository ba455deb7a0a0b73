/** A session, as every replica knows it. */
export interface Session extends OpenedSession {
  /** The session's end is decided and its ephemerals are being deleted: it does nothing more. */
  readonly isClosing: boolean;
}

/** What a session is given when it is created, which never changes. */
export interface OpenedSession {
  readonly timeoutMs: number;
  /** Has PASSWORD_BYTES bytes. */
  readonly password: Uint8Array;
}

export const PASSWORD_BYTES = 16;
