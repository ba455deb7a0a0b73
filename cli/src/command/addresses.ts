/** Lists the servers of an ensemble one by one, for requests to each of them. */
import { type NamedAddress, serversOf } from '../status/named-servers.js';
import { readTls, type TlsPaths } from './client-proofs.js';

export type { NamedAddress } from '../status/named-servers.js';

/** Returns the servers of a connect string; its chroot does not count. Throws OperatorError. */
export function addressesOf(connect: string, tls: TlsPaths | null = null): readonly NamedAddress[] {
  const servers = serversOf({ connect });
  return tls === null ? servers : servers.map((server) => ({ ...server, tls: () => readTls(tls) }));
}

/** Returns the members that a config file lists. Throws OperatorError. */
export function addressesIn(config: string): readonly NamedAddress[] {
  return serversOf({ config });
}
