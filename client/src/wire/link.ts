/**
 * What a connection needs of a socket, and how one is made. Types only.
 *
 * Implemented over TCP and TLS (dial.ts), over a worker thread (../worker) and by tests in memory.
 */
import type { ServerName } from './connect-string.js';

/** An address to connect to, and the name it was found by, which TLS checks. */
export interface Address {
  readonly server: ServerName;
  /** Numeric. */
  readonly ip: string;
}

/** Called by a link, never before `dial` has returned, and never after `onClose`. */
export interface LinkEvents {
  /** Bytes can be written; TLS is established. Once. */
  onOpen(): void;
  /** The chunk belongs to the receiver from now on. */
  onData(chunk: Uint8Array): void;
  /** The link is over, by whatever cause but `destroy`. Once, and last. */
  onClose(error: Error | null): void;
}

export interface Link {
  /** The bytes belong to the link from now on. */
  write(bytes: Uint8Array): void;
  /** Sends what was written, then closes; `onClose` still tells when the other side has. */
  end(): void;
  /** Closes at once; nothing is called any more. */
  destroy(): void;
  /** A thread that beats for us; absent where the connection itself must. */
  readonly heart?: Heart;
}

/** Heartbeats made elsewhere, so that this thread may be busy. */
export interface Heart {
  /** Pings are sent and their replies kept from us; silence ends the link. */
  start(beat: { readonly intervalMs: number; readonly silenceMs: number }): void;
  /** When the last request that was answered was sent, in `Surroundings.nowMs` time. */
  lastAnsweredMs(): number;
}

export type Dial = (address: Address, events: LinkEvents) => Link;

/** All addresses of a name, asked anew each time; rejects when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;
