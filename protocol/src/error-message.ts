/** What a message says of an error: whatever was thrown, because anything may be. */

/** The error's message, or the value as text if it is none. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
