/**
 * Opens the socket of a connection to a server, by TLS where the server has it.
 *
 * Answers are read into memory of the caller in both cases; Node decrypts right into it. Nothing is
 * sent here. Used by LoadConnection and by what asks for four-letter words.
 */
import net from 'node:net';
import tls from 'node:tls';

/** What a client needs for TLS; it has no certificate of its own. */
export interface HostTls {
  /** The authority that the client trusts, in PEM. */
  readonly ca: string;
}

export interface Host {
  readonly host: string;
  readonly port: number;
  readonly tls?: HostTls;
}

export interface DialOptions {
  readonly onread?: net.OnReadOpts;
  /** The TLS session of an earlier connection to this server; undefined for a full handshake. */
  readonly tlsSession?: Buffer | undefined;
  /** Called when the connection can be written to. */
  readonly onOpen: () => void;
  /** Called once or several times after the opening, with what resumes this connection's TLS. */
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
