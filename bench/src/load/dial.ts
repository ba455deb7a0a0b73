/**
 * Opens the socket of a connection to a server, by TLS where the server has it.
 *
 * Answers are read into memory of the caller in both cases; Node decrypts right into it. Nothing is
 * sent here. Used by LoadConnection and by what asks for four-letter words.
 */
import net from 'node:net';
import tls from 'node:tls';

/** How a server proves itself, and nothing about the client, which has no certificate. */
export interface HostTls {
  /** In PEM. */
  readonly ca: string;
}

export interface Host {
  readonly host: string;
  readonly port: number;
  readonly tls?: HostTls;
}

export interface DialOptions {
  readonly onread?: net.OnReadOpts;
  /** Of an earlier connection by TLS to the same server; undefined for a full handshake. */
  readonly tlsSession?: Buffer | undefined;
  /** The connection can be written to. */
  readonly onOpen: () => void;
  /** The connection by TLS can be resumed with this; comes once or several times after it opens. */
  readonly onTlsSession?: (session: Buffer) => void;
}

export function dial({ host, port, tls: secure }: Host, options: DialOptions): net.Socket {
  const { onread, tlsSession: session, onOpen, onTlsSession } = options;
  const given = { host, port, ...(onread === undefined ? {} : { onread }) };
  if (secure === undefined) return net.connect({ ...given, noDelay: true }, onOpen);
  const { ca } = secure;
  const socket = tls.connect(
    { ...given, ca, ...(session === undefined ? {} : { session }) },
    onOpen,
  );
  socket.setNoDelay(true);
  if (onTlsSession !== undefined) socket.on('session', onTlsSession);
  return socket;
}
