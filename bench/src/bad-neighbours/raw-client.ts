/**
 * A client on a bare socket, for attacks that no client library would make.
 *
 * Nothing that happens to it is an error: an attack expects refused and closed connections.
 */
import net from 'node:net';
import type { Host } from '../load/dial.js';
import { connectFrame } from '../load/handshake.js';

const SESSION_TIMEOUT_MS = 30_000;

export interface RawClient {
  readonly socket: net.Socket;
  /** Resolves when the connection is gone, or at the abort. */
  readonly closed: Promise<void>;
}

/** Connects. An abort of the signal destroys the socket. */
export function rawClient(host: Host, signal: AbortSignal): RawClient {
  const socket = net.connect({ ...host, noDelay: true });
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
  return { socket, closed };
}

/** Requests a session; resolves when its answer arrives, or when the connection is gone. */
export function withSession({ socket, closed }: RawClient): Promise<unknown> {
  const answered = new Promise<void>((resolve) => {
    socket.once('data', () => resolve());
  });
  socket.write(connectFrame(null, SESSION_TIMEOUT_MS));
  return Promise.race([answered, closed]);
}
