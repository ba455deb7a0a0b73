/**
 * Reads the body of a request, as much as is allowed and not a byte more.
 *
 * What is announced as too large is refused before any of it is read; of what is not announced,
 * reading stops at the bound. All bodies that are being read together have a bound, too, so that
 * many slow senders cannot hold more memory than one. The time that a body may take is the
 * server's: it ends a request that is not complete in time. Called by HttpPort.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './http-error.js';

/** The bytes of incomplete bodies that all requests of a port may hold together. */
export const BODIES_BYTES_MAX = 8 << 20;

export class HttpBodies {
  #bytes = 0;

  /** The bytes of incomplete bodies that are held now; for tests. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws HttpError: 413 beyond `bytesMax`, 503 while others send too much. */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    bytesMax: number,
  ): Promise<Uint8Array> {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > bytesMax) throw tooLarge(bytesMax);
    if (request.headers.expect !== undefined) response.writeContinue();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of request) {
        if (!(chunk instanceof Uint8Array)) continue;
        bytes += chunk.length;
        this.#bytes += chunk.length;
        if (bytes > bytesMax) throw tooLarge(bytesMax);
        if (this.#bytes > BODIES_BYTES_MAX) {
          throw new HttpError(503, 'Others send too much at the moment.', { 'retry-after': '1' });
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks, bytes);
    } finally {
      this.#bytes -= bytes;
    }
  }
}

/** Whether one is announced. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(413, `The body may have ${bytesMax} bytes at most.`);
}
