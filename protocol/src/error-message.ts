/** The text of whatever was thrown, for messages and logs. JavaScript can throw any value. */

/** Returns the error's message, or the value as text if it is no Error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
