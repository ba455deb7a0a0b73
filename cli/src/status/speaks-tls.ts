/** Tells ports for TLS from others, for messages about connections of the wrong kind. */
import { connect } from 'node:tls';

/**
 * Resolves with whether a server answers a TLS handshake within `timeoutMs`, also if it refuses
 * this client. Nothing else is sent, so it does not matter by whom the server is certified.
 */
export function speaksTls(
  { host, port }: { readonly host: string; readonly port: number },
  timeoutMs: number,
): Promise<boolean> {
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
