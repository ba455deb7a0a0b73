/**
 * Requests to `/api/v1` of a member's admin port, for the tests.
 */
import type { Member } from './member.js';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the answer is no JSON. */
  readonly json: Record<string, unknown>;
}

export interface ApiRequest {
  /** `user:password`, as whom the tree is used. */
  readonly as?: string;
  /** The user of the port. */
  readonly user?: string;
  readonly body?: string;
  readonly match?: string;
}

const DEADLINE_MS = 20_000;

/** `what` is a method and a path below `/api/v1`. Rejects when it is not answered in time. */
export async function askApi(
  { adminPort, prefix = '' }: Pick<Member, 'adminPort'> & { readonly prefix?: string },
  what: string,
  { as, user, body, match }: ApiRequest = {},
): Promise<ApiAnswer> {
  const [method = 'GET', path = ''] = what.split(' ');
  const headers: Record<string, string> = {};
  if (as !== undefined) headers['x-rookery-auth'] = base64(as);
  if (user !== undefined) headers['authorization'] = `Basic ${base64(user)}`;
  if (match !== undefined) headers['if-match'] = match;
  const response = await fetch(`http://127.0.0.1:${adminPort}${prefix}/api/v1${path}`, {
    method,
    headers,
    signal: AbortSignal.timeout(DEADLINE_MS),
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const isJson = /[/+]json$/.test(response.headers.get('content-type') ?? '') && text !== '';
  const json: Record<string, unknown> = isJson ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, text, json };
}

/** The lines of a streamed answer. */
export function linesOf({ text }: ApiAnswer): readonly Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
