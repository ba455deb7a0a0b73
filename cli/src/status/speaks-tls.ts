/** Tells ports for TLS from others, for messages about connections of the wrong kind. */
import { connect as connectPlainly } from 'node:net';
import { connect } from 'node:tls';

interface Port {
  readonly host: string;
  readonly port: number;
}

/** The length of a request for a session, without the request. */
const FRAME_BEGINS = Buffer.from([0, 0, 0, 44]);

/**
 * Resolves with whether a server answers a TLS handshake within `timeoutMs`, also if it refuses
 * this client. Nothing else is sent, so it does not matter by whom the server is certified.
 */
export function speaksTls({ host, port }: Port, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (speaks: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(speaks);
    };
    const socket = connect({ host, port, rejectUnauthorized: false }, () => end(true));
    const timer = setTimeout(() => end(false), timeoutMs);
    // An alert is an answer of TLS; whatever else comes is not.
    socket.on('error', (error) =>
      end(/^ERR_SSL_\w*ALERT/.test(String(Reflect.get(error, 'code')))),
    );
    socket.on('close', () => end(false));
  });
}

/**
 * Resolves with whether a server that serves gives no session without TLS: it speaks TLS, and
 * hangs up within `timeoutMs` when a request for a session has only begun. A server that takes
 * such requests waits for the rest, so none is made.
 */
export async function needsTls(server: Port, timeoutMs: number): Promise<boolean> {
  return (await hangsUp(server, timeoutMs)) && (await speaksTls(server, timeoutMs));
}

function hangsUp({ host, port }: Port, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (hungUp: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(hungUp);
    };
    const socket = connectPlainly({ host, port }, () => socket.write(FRAME_BEGINS));
    const timer = setTimeout(() => end(false), timeoutMs);
    socket.on('error', () => end(true));
    socket.on('close', () => end(true));
    socket.resume();
  });
}
