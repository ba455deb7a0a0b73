/** Lists the servers that a command asks: those of a config file, or of a connect string. */
import { ConnectStringError, parseConnectString } from '@rookery/client';
import { addressText } from '@rookery/protocol';
import { loadEnsembleConfig, OperatorError } from '@rookery/server';
import type { ServerToAsk } from './four-letter-word.js';

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

/** Takes either of the two; the chroot of a connect string does not count. Throws OperatorError. */
export function serversOf({
  config,
  connect,
}: {
  readonly config?: string;
  readonly connect?: string;
}): readonly NamedAddress[] {
  if (config !== undefined && connect === undefined) {
    return loadEnsembleConfig(config).servers.map(({ id, host, clientHost = host, clientPort }) =>
      named(id, clientHost, clientPort),
    );
  }
  if (connect === undefined || config !== undefined) {
    throw new OperatorError('Give --config, or --connect host:port,..., and not both.');
  }
  try {
    return parseConnectString(connect).servers.map(({ host, port }) => named(null, host, port));
  } catch (error) {
    if (!(error instanceof ConnectStringError)) throw error;
    throw new OperatorError(`${error.message}.`, { cause: error });
  }
}

function named(id: number | null, host: string, port: number): NamedAddress {
  return { id, host, port, address: addressText(host, port) };
}
