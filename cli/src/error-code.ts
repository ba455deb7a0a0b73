/** The short name by which a finding or a message tells what the system has refused. */
import { errorMessage } from '@rookery/protocol';

/** Returns the system's code of an error, such as ENOENT; for any other error its message. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return errorMessage(error);
}
