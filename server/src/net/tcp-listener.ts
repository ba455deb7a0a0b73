/**
 * A TCP port on one or several addresses of this machine, as one listener.
 *
 * Either all of its addresses are bound or none is. The limit of open sockets holds for all of them
 * together. A connection that fails in accept, or that comes when the process is short of file
 * descriptors, is logged and the listener goes on: one that swallows the error is deaf and nobody
 * knows (ZOOKEEPER-4203). Called by `tcp.ts`.
 */
import net from 'node:net';
import type { Logger } from 'pino';
import { EVERY_ADDRESS, type ListenAddress, listenHostsOf } from '../config/addresses.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { systemTimers } from './timers.js';
import type { Listener, StreamCount } from './transport.js';

export interface TcpListenerOptions {
  readonly address: ListenAddress;
  readonly streamsMax: number;
  /** Accepted sockets that are not closed. */
  readonly count: StreamCount;
  /** Accepted sockets are not read from until they are resumed. */
  readonly pauseOnConnect: boolean;
  readonly logger: Logger;
  onSocket(socket: net.Socket): void;
}

/** Rejects with the cause when an address cannot be bound; nothing is bound then. */
export async function listenOnTcp(options: TcpListenerOptions): Promise<Listener> {
  const listener = new TcpListener(options);
  try {
    for (const host of listenHostsOf(options.address)) await listener.bind(host);
  } catch (error) {
    await listener.close();
    throw error;
  }
  return listener;
}

class TcpListener implements Listener {
  readonly #options: TcpListenerOptions;
  readonly #rateLimited: RateLimitedLog;
  readonly #servers: net.Server[] = [];
  #port: number;

  constructor(options: TcpListenerOptions) {
    this.#options = options;
    this.#port = options.address.port;
    this.#rateLimited = new RateLimitedLog(options.logger, systemTimers());
  }

  /** The bound port, also where any free one was asked for. */
  get port(): number {
    return this.#port;
  }

  bind(host: string): Promise<void> {
    const { pauseOnConnect } = this.#options;
    const options = { allowHalfOpen: true, noDelay: true, pauseOnConnect };
    const server = net.createServer(options, (socket) => this.#accept(socket));
    const address = { host, port: this.#port };
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      // Without a host Node listens on all addresses of both families.
      server.listen(host === EVERY_ADDRESS ? { port: address.port } : address, () => {
        server.off('error', reject);
        server.on('error', (error) => {
          this.#rateLimited.error('net.accept_failed', { ...address, err: error });
        });
        this.#servers.push(server);
        const bound = server.address();
        if (bound !== null && typeof bound === 'object') this.#port = bound.port;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    // Does not wait for the streams: they belong to whoever took them.
    for (const server of this.#servers) server.close();
    this.#rateLimited.close();
    return Promise.resolve();
  }

  #accept(socket: net.Socket): void {
    const { streamsMax, count, onSocket } = this.#options;
    if (count.open >= streamsMax) {
      const remote = socket.remoteAddress ?? 'unknown';
      this.#rateLimited.warn('net.accept_dropped', { port: this.#port, streamsMax, remote });
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    count.open += 1;
    socket.once('close', () => {
      count.open -= 1;
    });
    onSocket(socket);
  }
}
