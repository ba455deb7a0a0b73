/**
 * What a request of HTTP brings to say who asks: `Authorization: digest user:password`, which is
 * ZooKeeper's way, or Basic.
 */

/** `user:password` of the header; null for none. */
export function credentialsOf(header: string | undefined): string | null {
  const [, scheme = '', rest = ''] = /^(digest|basic)\s(.+)$/i.exec(header ?? '') ?? [];
  const proof = rest.trimStart();
  const text = scheme.toLowerCase() === 'basic' ? Buffer.from(proof, 'base64').toString() : proof;
  return text.includes(':') ? text : null;
}
