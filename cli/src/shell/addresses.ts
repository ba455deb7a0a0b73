/** The single servers of a connect string, for requests to each of them. */
import { OperatorError } from '@rookery/server';
import { serversOf } from '../status/status-command.js';

export interface NamedAddress {
  readonly host: string;
  readonly port: number;
  /** As `host:port`, with an IPv6 address in brackets. */
  readonly address: string;
}

/** Without the chroot. Throws OperatorError. */
export function addressesOf(connect: string): readonly NamedAddress[] {
  const slash = connect.indexOf('/');
  const hosts = slash === -1 ? connect : connect.slice(0, slash);
  const servers = serversOf({ connect: hosts, timeoutMs: 0, waitSeconds: 0, json: false });
  if (servers.length === 0) throw new OperatorError('No server is named.');
  return servers.map(({ host, port }) => {
    return { host, port, address: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}` };
  });
}
