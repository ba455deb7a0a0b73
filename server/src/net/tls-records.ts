/**
 * Writes frames by TLS so that the last one of each write has a record of its own.
 *
 * Some clients (kazoo 2.8) wait on the socket for the next answer although their TLS library holds
 * one already, because it came in one record with others. They would wait for seconds, until
 * something else comes. What they wait on stays readable as long as a further record is behind the
 * one that they read from, so it is enough that the last record has one frame. A record for each
 * frame would have the same effect and take far more time. Used by the TCP transport.
 */
import type { TLSSocket } from 'node:tls';

export class TlsRecords {
  readonly #socket: TLSSocket;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    // Through `_writev`, Node would join writes that wait and encrypt them as one record.
    Reflect.set(socket, '_writev', null);
  }

  /** `lastAt`: where the last of several frames begins, 0 if there is only one. */
  write(bytes: Uint8Array, lastAt: number): void {
    if (lastAt > 0) this.#socket.write(bytes.subarray(0, lastAt));
    this.#socket.write(bytes.subarray(lastAt));
  }
}
