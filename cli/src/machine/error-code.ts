/** Names system errors in findings and messages. */
import { errorMessage } from '@rookery/protocol';

/** Returns the system's code of an error, such as ENOENT; for any other error its message. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return errorMessage(error);
}

/** Returns the error's message. That of a name with several addresses has a code instead. */
export function messageOf(error: unknown): string {
  return errorMessage(error) || codeOf(error) || 'no answer';
}
