/**
 * Which servers a command asks: those of a config file, or those of a list of addresses.
 */
import { loadEnsembleConfig, OperatorError } from '@rookery/server';
import type { ServerToAsk } from './four-letter-word.js';

const DEFAULT_PORT = 2181;

export interface ServersOptions {
  /** The path of a config file. */
  readonly config?: string;
  /** `host:port,host:port`. */
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
  return connect.split(',').map((text) => {
    const [, bracketed, plain, port = `${DEFAULT_PORT}`] =
      /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/i.exec(text.trim()) ?? [];
    const host = bracketed ?? plain;
    if (host === undefined) {
      throw new OperatorError(`${text} is not an address of the form host:port`);
    }
    return { id: null, host, port: Number(port) };
  });
}

/** Writes `host:port`, with an IPv6 address in brackets. */
export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
