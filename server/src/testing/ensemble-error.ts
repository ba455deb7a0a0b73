/**
 * What a test ensemble cannot do, and why. Thrown by `ensemble.ts` and its parts alone.
 */

/**
 * - `invalidOption`: the message names each option that cannot be used.
 * - `noSuchMember`: no member has this id.
 * - `noSuchSession`: the ensemble has no session with this id, or it is a local session.
 * - `notRunning`: the member was killed; restart it first.
 * - `timedOut`: what was waited for did not happen within `timeoutMs`; the message says what.
 * - `memberFailed`: a member ended by itself, which it must not; `cause` is its error.
 * - `stopped`: the ensemble was stopped.
 */
export type EnsembleErrorCode =
  | 'invalidOption'
  | 'noSuchMember'
  | 'noSuchSession'
  | 'notRunning'
  | 'timedOut'
  | 'memberFailed'
  | 'stopped';

export class EnsembleError extends Error {
  override readonly name = 'EnsembleError';
  readonly code: EnsembleErrorCode;

  constructor(code: EnsembleErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
