/**
 * Sockets, over TCP or over TLS with Node's own options, and the resolution of names by the system.
 *
 * An error of a socket is never thrown; it becomes the reason of `onClose`. There are no timeouts
 * here: a caller gives up with `destroy`. Nothing is called before `dial` has returned.
 */
import { lookup as lookUp } from 'node:dns/promises';
import { connect as connectTcp, isIP, Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { NameLookups } from '@rookery/protocol';
import type { Surroundings } from '../api/surroundings.js';
import type { Address, Dial, Link, LinkEvents, Resolve } from './link.js';

export interface DialOptions {
  /** Asked for each connection; returns null for plain TCP. */
  readonly tls: () => ConnectionOptions | null;
  /** Whether an open socket keeps the process alive. */
  readonly keepAlive: boolean;
}

export function socketDial(options: DialOptions): Dial {
  return (address, events) => {
    const tls = options.tls();
    const opened = tls === null ? 'connect' : 'secureConnect';
    return new SocketLink(openSocket(address, tls), events, { opened, ...options });
  };
}

/**
 * Resolves a name by the system. At most one lookup per name is in progress, and if it hangs, the
 * previous addresses of the name are returned.
 */
export function resolverBySystem(
  setTimer: Surroundings['setTimer'],
  lookup: Resolve = lookupBySystem,
): Resolve {
  const names = new NameLookups({ after: setTimer, lookup });
  return async (host) => (isIP(host) === 0 ? await names.resolve(host) : [host]);
}

async function lookupBySystem(host: string): Promise<readonly string[]> {
  const found = await lookUp(host, { all: true, verbatim: true });
  return found.map((entry) => entry.address);
}

function openSocket(address: Address, tls: ConnectionOptions | null): Socket {
  const { ip: host, server } = address;
  const common = { host, port: server.port };
  if (tls === null) return connectTcp({ ...common, noDelay: true, keepAlive: true });
  // The certificate is checked against the name that the user gave, and not against its address.
  const named = isIP(server.host) === 0 ? { servername: server.host } : {};
  try {
    const socket = connectTls({ ...named, ...tls, ...common });
    socket.setNoDelay(true);
    socket.setKeepAlive(true);
    return socket;
  } catch (error) {
    // Node refuses some options only here. The socket reports it as it does any other failure.
    return new Socket().destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

interface SocketLinkOptions {
  /** The event of the socket when bytes can be written. */
  readonly opened: 'connect' | 'secureConnect';
  readonly keepAlive: boolean;
}

class SocketLink implements Link {
  readonly #socket: Socket;
  /** Null after `destroy`, because the socket may still emit events. */
  #events: LinkEvents | null;
  #error: Error | null = null;

  constructor(socket: Socket, events: LinkEvents, { opened, keepAlive }: SocketLinkOptions) {
    this.#socket = socket;
    this.#events = events;
    if (!keepAlive) socket.unref();
    socket.once(opened, () => this.#events?.onOpen());
    socket.on('data', (chunk: Buffer) => this.#events?.onData(chunk));
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.once('close', () => this.#events?.onClose(this.#error));
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#events = null;
    this.#socket.destroy();
  }
}
