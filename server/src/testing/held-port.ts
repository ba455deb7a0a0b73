/**
 * Holds a free TCP port of this machine from its opening to its closing.
 *
 * It is found by listening on it, and the member gets that listener, so no other process can take
 * the port in between. While the member is down, connections are refused as for a dead process, and
 * a socket of ours that does not listen is bound to the port (`PortGuard`): the kernel does not
 * hand out such a port to processes that ask for any free one, such as other tests. Used by
 * `seat.ts` and `ending-transport.ts`.
 */
import net from 'node:net';
import type { ByteStream, Listener, Transport } from '../net/transport.js';

export const HOST = '127.0.0.1';

export class HeldPort {
  readonly port: number;
  readonly #transport: Transport;
  readonly #guard: PortGuard;
  #listener: Listener | null = null;
  #socket: net.Socket | null = null;
  #onStream: ((stream: ByteStream) => void) | null = null;
  /** Connections from before the member listened. */
  #early: ByteStream[] = [];

  static async open(transport: Transport, guard: PortGuard): Promise<HeldPort> {
    let port: HeldPort | null = null;
    const listener = await transport.listen({ host: HOST, port: 0 }, (stream) => {
      if (port === null) stream.destroy();
      else port.#onAccepted(stream);
    });
    port = new HeldPort({ transport, guard, listener });
    return port;
  }

  private constructor(parts: { transport: Transport; guard: PortGuard; listener: Listener }) {
    this.#transport = parts.transport;
    this.#guard = parts.guard;
    this.#listener = parts.listener;
    this.port = parts.listener.port;
  }

  /** Hands each stream to `onStream` from now on, those that came too early first. */
  async listen(onStream: (stream: ByteStream) => void): Promise<void> {
    if (this.#listener === null) {
      this.#socket?.resetAndDestroy();
      this.#socket = null;
      const address = { host: HOST, port: this.port };
      this.#listener = await this.#transport.listen(address, (stream) => this.#onAccepted(stream));
    }
    this.#onStream = onStream;
    const early = this.#early;
    this.#early = [];
    for (const stream of early) onStream(stream);
  }

  /** Refuses connections and keeps the port. Resolves once both hold. */
  async refuse(): Promise<void> {
    if (this.#listener === null) return;
    await this.#stopListening();
    this.#socket = await this.#guard.hold(this.port);
  }

  async close(): Promise<void> {
    this.#socket?.resetAndDestroy();
    this.#socket = null;
    await this.#stopListening();
  }

  async #stopListening(): Promise<void> {
    const listener = this.#listener;
    this.#listener = null;
    this.#onStream = null;
    for (const stream of this.#early) stream.destroy();
    this.#early = [];
    await listener?.close();
  }

  #onAccepted(stream: ByteStream): void {
    if (this.#onStream === null) this.#early.push(stream);
    else this.#onStream(stream);
  }
}

/** The other end of the sockets that hold ports. */
export class PortGuard {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor() {
    this.#server = net.createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async open(): Promise<PortGuard> {
    const guard = new PortGuard();
    await new Promise<void>((resolve, reject) => {
      guard.#server.once('error', reject);
      guard.#server.listen({ host: HOST, port: 0 }, resolve);
    });
    return guard;
  }

  /** A socket bound to `localPort`; null when another process was faster. */
  hold(localPort: number): Promise<net.Socket | null> {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') return Promise.resolve(null);
    const socket = net.connect({
      host: HOST,
      port: address.port,
      localAddress: HOST,
      localPort,
    });
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(socket));
      socket.on('error', () => resolve(null));
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
