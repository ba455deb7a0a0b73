/**
 * The transport over real sockets.
 *
 * Owns nothing but the translation: node:net events to stream handlers. Half-open streams are
 * allowed, Nagle is off, `::ffff:` is stripped from addresses. Names are resolved anew at each dial
 * (ZOOKEEPER-1506). A connection that fails in accept, or that comes when the process is short of
 * file descriptors, is logged and the listener goes on: one that swallows the error is deaf and
 * nobody knows (ZOOKEEPER-4203).
 */
import net from 'node:net';
import type { Logger } from 'pino';
import { openFilesMax, streamsWithin } from './open-files.js';
import { StormLog } from './storm-log.js';
import { systemTimers } from './timers.js';
import type { Address, ByteStream, Listener, StreamHandlers, Transport } from './transport.js';

export class TcpTransport implements Transport {
  readonly #logger: Logger;
  readonly #streamsMax: number;

  /** `streamsMax`: accepted streams of one listener that may be open at a time. */
  constructor(logger: Logger, streamsMax: number = streamsWithin(openFilesMax())) {
    this.#logger = logger;
    this.#streamsMax = streamsMax;
  }

  listen(address: Address, onStream: (stream: ByteStream) => void): Promise<Listener> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      onStream(new TcpStream(socket));
    });
    if (Number.isFinite(this.#streamsMax)) server.maxConnections = this.#streamsMax;
    const storms = new StormLog(this.#logger, systemTimers());
    server.on('drop', (dropped) => {
      const remote = dropped?.remoteAddress ?? 'unknown';
      const facts = { ...address, streamsMax: this.#streamsMax, remote };
      storms.error('net.accept_dropped', facts);
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: address.host, port: address.port }, () => {
        server.off('error', reject);
        server.on('error', (error) => {
          storms.error('net.accept_failed', { ...address, err: error });
        });
        resolve(new TcpListener(server, address.port, storms));
      });
    });
  }

  dial(address: Address, timeoutMs: number): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ ...address, allowHalfOpen: true, noDelay: true });
      const timeout = setTimeout(() => {
        socket.destroy(new DialTimeout(address, timeoutMs));
      }, timeoutMs);
      const onClose = (): void => {
        clearTimeout(timeout);
        reject(new Error(`connection to ${address.host}:${address.port} closed`));
      };
      const onError = (error: Error): void => {
        clearTimeout(timeout);
        reject(error);
      };
      socket.once('close', onClose);
      socket.once('error', onError);
      socket.once('connect', () => {
        clearTimeout(timeout);
        socket.off('close', onClose);
        socket.off('error', onError);
        resolve(new TcpStream(socket));
      });
    });
  }
}

export class DialTimeout extends Error {
  override readonly name = 'DialTimeout';
  readonly code = 'ETIMEDOUT';

  constructor(address: Address, timeoutMs: number) {
    super(`no connection to ${address.host}:${address.port} within ${timeoutMs} ms`);
  }
}

class TcpListener implements Listener {
  readonly port: number;
  readonly #server: net.Server;
  readonly #storms: StormLog;

  constructor(server: net.Server, askedPort: number, storms: StormLog) {
    this.#server = server;
    this.#storms = storms;
    const bound = server.address();
    this.port = bound !== null && typeof bound === 'object' ? bound.port : askedPort;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      // Does not wait for the streams: they belong to whoever took them.
      this.#server.close();
      this.#storms.close();
      resolve();
    });
  }
}

class TcpStream implements ByteStream {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #socket: net.Socket;
  #error: Error | undefined;
  #closed = false;
  #handled = false;

  constructor(socket: net.Socket) {
    this.#socket = socket;
    this.remoteAddress = plainAddress(socket.remoteAddress ?? 'unknown');
    this.remotePort = socket.remotePort ?? 0;
    // From the first moment on: an 'error' event without a listener would end the process.
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.once('close', () => {
      this.#closed = true;
    });
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  handle(handlers: StreamHandlers): void {
    if (this.#handled) {
      throw new Error('handlers of a stream are set once');
    }
    this.#handled = true;
    const socket = this.#socket;
    if (this.#closed) {
      process.nextTick(() => handlers.onClose(this.#error));
      return;
    }
    socket.on('data', (chunk) => handlers.onData(bytesOf(chunk)));
    socket.on('end', () => handlers.onEnd());
    socket.on('drain', () => handlers.onDrain());
    socket.once('close', () => handlers.onClose(this.#error));
  }

  write(bytes: Uint8Array): void {
    if (this.#socket.writable) {
      this.#socket.write(bytes);
    }
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** No encoding is set on the socket, so node always gives bytes. */
function bytesOf(chunk: Buffer | string): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk;
}

function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
