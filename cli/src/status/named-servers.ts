/**
 * Which servers a command asks: those of a config file, or those of a list of addresses.
 */
import { ConnectStringError, parseConnectString } from '@rookery/client';
import { loadEnsembleConfig, OperatorError } from '@rookery/server';
import type { ServerToAsk } from './four-letter-word.js';

interface ServersOptions {
  /** The path of a config file. */
  readonly config?: string;
  /** The connect string of a client; its chroot does not count. */
  readonly connect?: string;
}

export type NamedServer = ServerToAsk & { readonly id: number | null };

/** Throws OperatorError if an address is invalid or missing. */
export function serversOf({ config, connect }: ServersOptions): readonly NamedServer[] {
  if (config !== undefined && connect === undefined) {
    return loadEnsembleConfig(config).servers.map(
      ({ id, host, clientHost = host, clientPort: port }) => ({ id, host: clientHost, port }),
    );
  }
  if (connect === undefined || config !== undefined) {
    throw new OperatorError('give --config, or --connect host:port,...');
  }
  try {
    return parseConnectString(connect).servers.map(({ host, port }) => ({ id: null, host, port }));
  } catch (error) {
    if (!(error instanceof ConnectStringError)) throw error;
    throw new OperatorError(`${error.message}.`, { cause: error });
  }
}
