/**
 * HTTP requests from commands to a member: parses the address in `--url`, adds the admin user's
 * credentials, and reads the answer's text.
 *
 * The user and the password come from the environment, as `user:password` in ROOKERY_ADMIN_USER, so
 * that they appear in no list of processes.
 */
import { OperatorError } from '@rookery/server';

export const USER_VARIABLE = 'ROOKERY_ADMIN_USER';

/** Throws OperatorError for what is no address of HTTP. */
export function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:') return url;
  throw new OperatorError(`--url: expected http://host:port, got ${text}`);
}

/** The headers with the user of an admin port; none if the environment names no user. */
export function userHeaders(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const user = environment[USER_VARIABLE] ?? '';
  return user === '' ? {} : { authorization: `Basic ${Buffer.from(user).toString('base64')}` };
}

/**
 * The text of an answer of an HTTP port, of which no more than a bound is read: the port may be
 * anybody's.
 *
 * Resolves with all characters, or with more than `charactersMax` and without the rest.
 */
export async function textUpTo(
  body: AsyncIterable<Uint8Array>,
  charactersMax: number,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    // This closes the connection.
    if (text.length > charactersMax) return text;
  }
  return text + decoder.decode();
}
