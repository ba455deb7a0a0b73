/**
 * The interface of a mechanism by which clients authenticate in several steps, for the pipeline.
 * Types only; digest-md5.ts implements them.
 */

export interface SaslServer {
  /** Each connection has an exchange of its own. */
  begin(): SaslExchange;
}

export interface SaslExchange {
  /** The user that a token names, right or wrong; '' if it names none. It is not taken. */
  userIn(token: Uint8Array): string;
  /** Takes the next token of the client, which may be empty. */
  answer(token: Uint8Array): SaslAnswer;
}

export type SaslAnswer =
  | { readonly kind: 'challenge'; readonly token: Uint8Array }
  /** The client is this user; the token proves the server to it. */
  | { readonly kind: 'done'; readonly token: Uint8Array; readonly user: string }
  /** `reason` is for the log of this member and never sent. */
  | { readonly kind: 'refused'; readonly reason: string };
