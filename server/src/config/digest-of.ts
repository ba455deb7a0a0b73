/**
 * ZooKeeper's digest scheme: what an ACL holds instead of a password.
 *
 * ZooKeeper takes SHA-1 unless `DigestAuthenticationProvider.digestAlg` says otherwise (3.7). The
 * length of a digest tells the algorithm, so a digest in the configuration needs no other mark.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { DIGEST_ALGS, type DigestAlg } from '@rookery/protocol';

/** The pattern of a digest in base64: its forms are of SHA-1, SHA-256 and SHA-512. */
export const DIGEST_PATTERN = '(?:[A-Za-z0-9+/]{27}=|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)';

/**
 * The pattern of a slow hash in place of a digest: see security/password-hashes.ts. Its parameters
 * have bounds, so that no file makes a login take seconds or gigabytes.
 */
export const SCRYPT_PATTERN =
  '\\$scrypt\\$ln=(1[0-7]),r=([1-9]|1[0-6]),p=([1-4])' +
  '\\$([A-Za-z0-9+/]{22})\\$([A-Za-z0-9+/]{43})';

const HASHES: Readonly<Record<DigestAlg, string>> = {
  SHA1: 'sha1',
  SHA256: 'sha256',
  SHA512: 'sha512',
};

/** `user:` and the digest of `user:password` in base64. */
export function digestOf(userAndPassword: string, algorithm: DigestAlg = 'SHA1'): string {
  const user = userAndPassword.split(':', 1).join();
  return `${user}:${createHash(HASHES[algorithm]).update(userAndPassword).digest('base64')}`;
}

/** Whether `digest` is what `digestOf` makes of it by any algorithm; in constant time. */
export function isDigestOf(digest: string, userAndPassword: string): boolean {
  const known = Buffer.from(digest);
  return DIGEST_ALGS.some((algorithm) => {
    const made = Buffer.from(digestOf(userAndPassword, algorithm));
    return made.length === known.length && timingSafeEqual(made, known);
  });
}
