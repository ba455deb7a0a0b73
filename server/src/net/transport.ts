/**
 * All that net knows of a network: byte streams that are listened for and dialled.
 *
 * `tcp.ts` implements it on node:net; the simulator brings its own. Handlers are set once, before
 * the first event can come; no callback runs inside a call of these methods.
 */

import type { ListenAddress } from '../addresses.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface StreamHandlers {
  /** The chunk is the handler's, but for streams that lend: see `Chunks`. */
  onData(chunk: Uint8Array): void;
  /** The other side sent its end of stream (half close); the stream can still be written. */
  onEnd(): void;
  /** Everything written so far has left the process's buffer. */
  onDrain(): void;
  /** Exactly once, whatever the reason; `error` when it was a failure. */
  onClose(error: Error | undefined): void;
}

export interface ByteStream {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Bytes accepted by `write` that have not yet reached the kernel. */
  readonly bufferedBytes: number;
  handle(handlers: StreamHandlers): void;
  write(bytes: Uint8Array): void;
  pause(): void;
  resume(): void;
  /** Sends what is buffered, then end of stream (no RST). */
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
 * Whose a chunk is once `onData` has returned. `lent`: the transport's again, which reads the next
 * one into the same memory; what is kept was copied. `lentLarge`: the same, of chunks that have
 * what a member sends in a turn, where those of clients are a quarter of that at most.
 */
export type Chunks = 'given' | 'lent' | 'lentLarge';

export interface ListenOptions {
  /** `given` when absent. */
  readonly chunks?: Chunks;
  /**
   * Accepted streams that may be open at a time; one more is closed at once, with a line. No limit
   * when absent. Networks that cost no files need not heed it.
   */
  readonly streamsMax?: number;
}

export interface Transport {
  /** Rejects with the cause (EADDRINUSE, EACCES, ...) when an address cannot be bound. */
  listen(address: ListenAddress, onStream: OnStream, options?: ListenOptions): Promise<Listener>;
  /** Resolves when connected; rejects on failure or after `timeoutMs`. */
  dial(address: Address, timeoutMs: number, chunks?: Chunks): Promise<ByteStream>;
}
