/**
 * The interface to the network: byte streams that are accepted and dialled.
 *
 * `tcp.ts` implements it with node:net; the simulator has its own. Handlers are set before there is
 * an event. No callback runs inside a call of these methods.
 */

import type { ConnectionOptions } from 'node:tls';
import type { ListenAddress } from '../config/addresses.js';
import type { TlsAcceptor } from './tls-acceptor.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface StreamHandlers {
  /** The chunk belongs to the handler unless the stream lends it: see `Chunks`. */
  onData(chunk: Uint8Array): void;
  /** The other side has ended its stream (half close). Writing is still possible. */
  onEnd(): void;
  /** Everything written so far has left the buffer of this process. */
  onDrain(): void;
  /** Called exactly once; `error` is set if the stream failed. */
  onClose(error: Error | undefined): void;
}

/** What TLS has proved of the other side. */
export interface Secured {
  /** Its certificate as DER, verified; null if it has none. */
  readonly certificate: Uint8Array | null;
}

export interface ByteStream {
  readonly remoteAddress: string;
  /** Of a stream from within the process: the address of the operator for whom it asks. */
  readonly operatorAddress?: string | undefined;
  readonly remotePort: number;
  /** Null while a stream is not, or not yet, protected by TLS. Final from the first data on. */
  readonly secured: Secured | null;
  /** Bytes that were written and have not reached the kernel yet. */
  readonly bufferedBytes: number;
  /**
   * Begins to report events to these handlers. A handler that has found out in `onData` whose
   * stream it is calls this once more, with the handlers that get all events from then on.
   */
  handle(handlers: StreamHandlers): void;
  /**
   * The bytes may be written over as soon as none are buffered. `lastAt` is where the last of
   * several frames to a client begins, 0 for a single one: by TLS, that frame gets a record of its
   * own (tcp.ts). Without TLS it has no effect.
   */
  write(bytes: Uint8Array, lastAt?: number): void;
  /** Writes the pieces in order by one system call. Absent where that saves nothing. */
  writePieces?(pieces: readonly Uint8Array[]): void;
  pause(): void;
  resume(): void;
  /** Sends what is buffered, then ends the stream without a reset. */
  end(): void;
  /** Drops the connection at once. */
  destroy(): void;
}

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** Sets the stream's handlers before it returns. */
export type OnStream = (stream: ByteStream) => void;

/**
 * Who owns a chunk after `onData` has returned. `given`: the handler. `lent`: the transport, which
 * reads the next chunk into the same memory, so the handler copies what it keeps. `lentLarge`: the
 * same with chunks four times as large, for streams between members.
 */
export type Chunks = 'given' | 'lent' | 'lentLarge';

export interface ListenOptions {
  /** Default `given`. */
  readonly chunks?: Chunks;
  /**
   * The number of accepted streams that may be open. A further one is closed at once and logged.
   * There is no limit by default. A network without file descriptors may ignore it.
   */
  readonly streamsMax?: number;
  /** Counts the open streams of several listeners together; default one of its own. */
  readonly count?: StreamCount;
  /** Streams begin with a TLS handshake; a network in memory may ignore it. */
  readonly tls?: ListenTls | undefined;
}

export interface StreamCount {
  open: number;
}

export interface ListenTls {
  readonly acceptor: TlsAcceptor;
  /** Whether streams without TLS are let in, too. */
  readonly allowsPlain: boolean;
}

export interface Transport {
  /** Rejects with the cause (EADDRINUSE, EACCES, ...) when an address cannot be bound. */
  listen(address: ListenAddress, onStream: OnStream, options?: ListenOptions): Promise<Listener>;
  /** Resolves when connected; rejects on failure or after `timeoutMs`. */
  dial(address: Address, timeoutMs: number, chunks?: Chunks): Promise<ByteStream>;
  /**
   * The same with TLS, whose handshake is within the timeout. Absent where there are no sockets.
   * Rejects with a TlsDialError when a connection came up and its handshake failed.
   */
  dialTls?(address: Address, timeoutMs: number, tls: ConnectionOptions): Promise<ByteStream>;
}

/** The other side does not speak TLS, or one of the two does not accept the other. */
export class TlsDialError extends Error {
  override readonly name = 'TlsDialError';
}
