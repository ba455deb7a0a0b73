/**
 * Sockets, over TCP or over TLS with Node's own options, and the resolution of names by the system.
 *
 * An error of a socket is never thrown; it becomes the reason of `onClose`. There are no timeouts
 * here: a caller gives up with `destroy`. Nothing is called before `dial` has returned.
 */
import { lookup as lookUp } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { NameLookups } from '@rookery/protocol';
import type { Surroundings } from '../api/surroundings.js';
import type { Address, Dial, Link, LinkEvents, Resolve } from './link.js';

export interface DialOptions {
  /** Null for plain TCP. */
  readonly tls: ConnectionOptions | null;
  /** Whether an open socket keeps the process alive. */
  readonly keepAlive: boolean;
}

export function socketDial(options: DialOptions): Dial {
  return (address, events) => new SocketLink(openSocket(address, options), events, options);
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

function openSocket(address: Address, options: DialOptions): Socket {
  const { ip: host, server } = address;
  const common = { host, port: server.port };
  if (options.tls === null) return connectTcp({ ...common, noDelay: true, keepAlive: true });
  // The certificate is checked against the name that the user gave, and not against its address.
  const named = isIP(server.host) === 0 ? { servername: server.host } : {};
  const socket = connectTls({ ...named, ...options.tls, ...common });
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  return socket;
}

class SocketLink implements Link {
  readonly #socket: Socket;
  /** Null after `destroy`, because the socket may still emit events. */
  #events: LinkEvents | null;
  #error: Error | null = null;

  constructor(socket: Socket, events: LinkEvents, options: DialOptions) {
    this.#socket = socket;
    this.#events = events;
    if (!options.keepAlive) socket.unref();
    const opened = options.tls === null ? 'connect' : 'secureConnect';
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
