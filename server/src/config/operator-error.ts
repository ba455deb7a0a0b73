/**
 * A fault that only the person who runs the member can mend: a wrong setting, a port in use, a
 * directory that cannot be written or that belongs to another member.
 *
 * Thrown by whatever finds it at start, never caught on the way; the command prints the message
 * alone (no stack) and exits with `exitCode`. The message says what is wrong and where.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
  readonly exitCode = 2;
}
