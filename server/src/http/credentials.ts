/**
 * What a request of HTTP brings to say who asks: `Authorization: digest user:password`, which is
 * ZooKeeper's way, or Basic.
 */

/** `user:password` of the header; null for none. */
export function credentialsOf(header: string | undefined): string | null {
  const match = /^(digest|basic)\s+(.+)$/i.exec(header ?? '');
  const [, scheme = '', rest = ''] = match ?? [];
  const text = scheme.toLowerCase() === 'basic' ? Buffer.from(rest, 'base64').toString() : rest;
  return text.includes(':') ? text : null;
}
