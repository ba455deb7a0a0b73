/**
 * The one error for bytes that are not what they should be: a short record, an unreasonable length,
 * an unknown kind of message. Whoever reads from outside catches it and answers or closes.
 */

export class MarshallingError extends Error {
  override readonly name = 'MarshallingError';
}
