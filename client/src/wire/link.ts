/**
 * What a connection needs of a socket, and how a socket is made. Types only.
 *
 * Implemented over TCP and TLS (dial.ts), over a worker thread (../worker), and in memory by tests.
 */
import type { ServerName } from './connect-string.js';

/** An address to connect to, and the name that resolved to it, against which TLS checks. */
export interface Address {
  readonly server: ServerName;
  /** A numeric address. */
  readonly ip: string;
}

/** Called by a link, never before `dial` has returned and never after `onClose`. */
export interface LinkEvents {
  /** Bytes can be written, and TLS is established. Called once. */
  onOpen(): void;
  /** The receiver owns the chunk from now on. */
  onData(chunk: Uint8Array): void;
  /** The link is over for any reason except `destroy`. Called once, as the last event. */
  onClose(error: Error | null): void;
}

export interface Link {
  /** The link owns the bytes from now on. */
  write(bytes: Uint8Array): void;
  /** Sends what was written, then closes. `onClose` is called when the other side has closed. */
  end(): void;
  /** Closes at once. Nothing is called any more. */
  destroy(): void;
  /** Heartbeats that another thread sends. If absent, the connection must send them. */
  readonly heart?: Heart;
}

/** Heartbeats that another thread sends, so that this thread may be busy. */
export interface Heart {
  /** Begins to send pings and to filter their replies. Silence ends the link. */
  start(beat: { readonly intervalMs: number; readonly silenceMs: number }): void;
  /** When the last answered request was sent, in `Surroundings.nowMs` time. */
  lastAnsweredMs(): number;
}

export type Dial = (address: Address, events: LinkEvents) => Link;

/** Resolves all addresses of a name, anew each time. Rejects if there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;
