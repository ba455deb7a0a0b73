/**
 * Addresses as text. The console imports no other package, so it has this of its own; it reads no
 * addresses. Pure.
 */

/** Writes `host:port`, with an IPv6 address in brackets. */
export function addressText(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
