/**
 * A client's stream that may begin with a TLS handshake.
 *
 * It exists from the moment the connection is accepted, so that whoever owns it counts and bounds
 * it from then on. Nothing is delivered until it is known what the stream is: on a port for TLS
 * alone that is after the handshake, on a port for both it is after the first byte, because a TLS
 * record begins with 0x16, which as the length of a frame would be 369 MB. From then on it only
 * passes everything on to the stream that the bytes come from. Made by the TCP transport.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsAcceptor } from './tls-acceptor.js';
import type { ByteStream, Secured, StreamHandlers } from './transport.js';

export interface SecuringStreamParts {
  /** Nothing has been read from it, and it is paused. */
  readonly socket: Socket;
  readonly acceptor: TlsAcceptor;
  /** Whether a first byte that is not TLS's means plain frames or words. */
  readonly allowsPlain: boolean;
  /** Takes the socket over; gets what comes after the first chunk. */
  plainStream(socket: Socket): ByteStream;
  secureStream(socket: TLSSocket, secured: Secured): ByteStream;
}

const TLS_HANDSHAKE = 0x16;

export class SecuringStream implements ByteStream {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #parts: SecuringStreamParts;
  #inner: ByteStream | null = null;
  #handlers: StreamHandlers | null = null;
  #error: Error | undefined;
  #isClosed = false;

  constructor(parts: SecuringStreamParts, remote: { address: string; port: number }) {
    this.#parts = parts;
    this.remoteAddress = remote.address;
    this.remotePort = remote.port;
    parts.socket.on('error', (error) => {
      this.#error = error;
    });
    parts.socket.once('close', () => this.#onSocketClosed());
  }

  get secured(): Secured | null {
    return this.#inner?.secured ?? null;
  }

  get bufferedBytes(): number {
    return this.#inner?.bufferedBytes ?? 0;
  }

  handle(handlers: StreamHandlers): void {
    const isHandedOver = this.#handlers !== null;
    this.#handlers = handlers;
    if (isHandedOver) return;
    const { socket, allowsPlain } = this.#parts;
    if (this.#isClosed) {
      process.nextTick(() => handlers.onClose(this.#error));
      return;
    }
    if (!allowsPlain) return this.#secure();
    // The first chunk is read as bytes of its own, whatever it turns out to be.
    socket.once('data', (chunk: Buffer) => this.#onFirst(chunk));
    socket.once('end', this.#onEarlyEnd);
    socket.resume();
  }

  write(bytes: Uint8Array, lastAt?: number): void {
    this.#inner?.write(bytes, lastAt);
  }

  pause(): void {
    this.#inner?.pause();
  }

  resume(): void {
    this.#inner?.resume();
  }

  end(): void {
    if (this.#inner === null) this.destroy();
    else this.#inner.end();
  }

  destroy(): void {
    if (this.#inner === null) this.#parts.socket.destroy();
    else this.#inner.destroy();
  }

  readonly #onEarlyEnd = (): void => {
    this.#handlers?.onEnd();
  };

  #onFirst(chunk: Buffer): void {
    const { socket, plainStream } = this.#parts;
    socket.off('end', this.#onEarlyEnd);
    if (chunk[0] === TLS_HANDSHAKE) {
      socket.pause();
      socket.unshift(chunk);
      return this.#secure();
    }
    this.#become(plainStream(socket));
    this.#handlers?.onData(chunk);
  }

  #secure(): void {
    const { socket, acceptor, secureStream } = this.#parts;
    acceptor.accept(socket, {
      onSecured: (secure, certificate) => {
        this.#become(secureStream(secure, { certificate }));
      },
      onRefused: () => undefined,
    });
  }

  #become(inner: ByteStream): void {
    this.#inner = inner;
    inner.handle({
      onData: (chunk) => this.#handlers?.onData(chunk),
      onEnd: () => this.#handlers?.onEnd(),
      onDrain: () => this.#handlers?.onDrain(),
      onClose: (error) => this.#close(error),
    });
  }

  #onSocketClosed(): void {
    // Once there is an inner stream, that one reports the close.
    if (this.#inner === null) this.#close(this.#error);
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#handlers?.onClose(error);
  }
}
