/**
 * A stream to the client port from within the process: what is asked over HTTP becomes requests of
 * a client like any other, with the same checks and the same order.
 *
 * The client port has one end, a `ByteStream` without an address, so that its client has no `ip`
 * identity. The other end is `send`, `leave` and two callbacks. Both ends are told of everything in
 * a later action of the timers. Made by Member; used by the admin port.
 */
import type { Timers } from './timers.js';
import type { ByteStream, StreamHandlers } from './transport.js';

/** The end that is not the port's. */
export interface InnerClient {
  /** The address of the operator, for the audit log and for what is bounded by address. */
  readonly operatorAddress: string;
  /** A copy. */
  onData(bytes: Uint8Array): void;
  /** Called once: the port has ended or dropped the stream, or `leave` was called. */
  onClosed(): void;
}

export class InnerStream implements ByteStream {
  readonly remoteAddress = '';
  readonly operatorAddress: string;
  readonly remotePort = 0;
  /** Nothing leaves the process, so it cannot be overheard. */
  readonly secured = { certificate: null };
  /** Nothing is buffered, because the other end takes everything at once. */
  readonly bufferedBytes = 0;
  readonly #timers: Timers;
  readonly #client: InnerClient;
  readonly #sent: Uint8Array[] = [];
  #handlers: StreamHandlers | null = null;
  #isPaused = false;
  #isDue = false;
  #isClosed = false;

  constructor(timers: Timers, client: InnerClient) {
    this.#timers = timers;
    this.#client = client;
    this.operatorAddress = client.operatorAddress;
  }

  /** The client's side: the bytes belong to the stream from now on. */
  send(bytes: Uint8Array): void {
    this.#sent.push(bytes);
    this.#deliver();
  }

  /** The client's side: it is gone. */
  leave(): void {
    this.#close();
  }

  handle(handlers: StreamHandlers): void {
    this.#handlers = handlers;
    this.#deliver();
  }

  write(bytes: Uint8Array): void {
    const copy = Uint8Array.from(bytes);
    this.#timers.defer(() => this.#client.onData(copy));
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  end(): void {
    this.#close();
  }

  destroy(): void {
    this.#close();
  }

  #deliver(): void {
    if (this.#isDue || this.#isClosed || this.#sent.length === 0) return;
    this.#isDue = true;
    this.#timers.defer(() => {
      this.#isDue = false;
      if (this.#isPaused || this.#isClosed || this.#handlers === null) return;
      const [first] = this.#sent.splice(0, 1);
      if (first !== undefined) this.#handlers.onData(first);
      this.#deliver();
    });
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sent.length = 0;
    this.#timers.defer(() => {
      this.#handlers?.onClose(undefined);
      this.#client.onClosed();
    });
  }
}
