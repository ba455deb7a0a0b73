/**
 * The algorithms of the digest scheme, by ZooKeeper's names of them.
 */

export const DIGEST_ALGS = ['SHA1', 'SHA256', 'SHA512'] as const;
export type DigestAlg = (typeof DIGEST_ALGS)[number];
