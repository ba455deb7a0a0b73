/**
 * ZooKeeper's digests of passwords: the algorithms of the digest scheme, and SASL's DIGEST-MD5.
 */
import { createHash } from 'node:crypto';

export const DIGEST_ALGS = ['SHA1', 'SHA256', 'SHA512'] as const;
export type DigestAlg = (typeof DIGEST_ALGS)[number];

/**
 * What both sides of SASL's DIGEST-MD5 (RFC 2831, 2.1.2.1 and 2.1.3) compute, for the quality
 * `auth`. User names and passwords are ASCII, because clients do not agree on how to encode others.
 */
interface DigestMd5Exchange {
  /** The result of `digestMd5Secret`. */
  readonly secret: Uint8Array;
  readonly nonce: string;
  readonly cnonce: string;
  /** How often the nonce was used, as eight hex digits. */
  readonly nc: string;
  readonly qop: string;
  readonly uri: string;
  readonly authzid?: string | undefined;
}

/** Returns 16 bytes, which are as good as the password: keep them secret. */
export function digestMd5Secret(user: string, realm: string, password: string): Uint8Array {
  return md5(`${user}:${realm}:${password}`);
}

/** Returns the client's response in hex, or with '' as the method the server's proof. */
export function digestMd5Response(
  method: 'AUTHENTICATE' | '',
  exchange: DigestMd5Exchange,
): string {
  const { secret, nonce, cnonce, nc, qop, uri, authzid } = exchange;
  const rest = authzid === undefined ? '' : `:${authzid}`;
  const session = Buffer.concat([secret, Buffer.from(`:${nonce}:${cnonce}${rest}`, 'latin1')]);
  const first = md5(session).toString('hex');
  const second = md5(`${method}:${uri}`).toString('hex');
  return md5(`${first}:${nonce}:${nc}:${cnonce}:${qop}:${second}`).toString('hex');
}

/** The protocol prescribes MD5. */
function md5(data: string | Buffer): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
  return createHash('md5').update(bytes).digest();
}
