/** The servers of an ensemble one by one, for requests to each of them. */
import { addressText } from '@rookery/protocol';
import type { ServerToAsk } from '../status/four-letter-word.js';
import { serversOf } from '../status/named-servers.js';
import { readTls, type TlsPaths } from './client-proofs.js';

export interface NamedAddress {
  /** The member's id; null where only a connect string is known. */
  readonly id: number | null;
  readonly host: string;
  readonly port: number;
  /** `host:port`, with an IPv6 address in brackets. */
  readonly address: string;
  /** Absent for connections without TLS. */
  readonly tls?: ServerToAsk['tls'];
}

/** Returns the servers of a connect string; its chroot does not count. Throws OperatorError. */
export function addressesOf(connect: string, tls: TlsPaths | null = null): readonly NamedAddress[] {
  const servers = named({ connect });
  return tls === null ? servers : servers.map((server) => ({ ...server, tls: () => readTls(tls) }));
}

/** Returns the members that a config file lists. Throws OperatorError. */
export function addressesIn(config: string): readonly NamedAddress[] {
  return named({ config });
}

function named(of: { readonly connect: string } | { readonly config: string }) {
  const servers = serversOf(of);
  return servers.map(({ id, host, port }) => ({
    id,
    host,
    port,
    address: addressText(host, port),
  }));
}
