/**
 * What a request of HTTP brings to say who asks: `Authorization: digest user:password`, which is
 * ZooKeeper's way, or Basic.
 */
import type { HttpRequest } from './http-port.js';

/** The number of identities that one request may bring. */
export const AUTHS_MAX = 8;

/** `user:password` of the header; null for none. */
export function credentialsOf(header: string | undefined): string | null {
  const [, scheme = '', rest = ''] = /^(digest|basic)\s(.+)$/i.exec(header ?? '') ?? [];
  const proof = rest.trimStart();
  const text = scheme.toLowerCase() === 'basic' ? Buffer.from(proof, 'base64').toString() : proof;
  return text.includes(':') ? text : null;
}

export const AUTH_HEADER = 'x-rookery-auth';

/** Each `user:password` that a request brings; what is malformed is refused where it is read. */
export function passwordsOf(headers: HttpRequest['headers']): readonly string[] {
  const own = credentialsOf(headers.authorization);
  const given = headers[AUTH_HEADER];
  const listed = typeof given === 'string' ? given.split(',', AUTHS_MAX) : [];
  const more = listed.map((one) => Buffer.from(one.trim(), 'base64').toString('utf8'));
  return own === null ? more : [own, ...more];
}
