/**
 * The messages between the client and its worker thread. Types only.
 *
 * `link` is the number of a connection; numbers are not reused. Bytes are transferred, not shared.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Address } from '../wire/link.js';

export type ToWorker =
  | {
      readonly kind: 'dial';
      readonly link: number;
      readonly address: Address;
      readonly tls: ConnectionOptions | null;
      readonly frameBytesMax: number;
      /**
       * A 64-bit integer that the worker writes: when the last answered heartbeat was sent, in
       * microseconds of `process.hrtime`; 0 before the first.
       */
      readonly answered: SharedArrayBuffer;
    }
  | { readonly kind: 'write'; readonly link: number; readonly bytes: Uint8Array }
  | {
      readonly kind: 'beat';
      readonly link: number;
      readonly intervalMs: number;
      readonly silenceMs: number;
    }
  | { readonly kind: 'end' | 'destroy'; readonly link: number };

export type FromWorker =
  | { readonly kind: 'open'; readonly link: number }
  | { readonly kind: 'data'; readonly link: number; readonly bytes: Uint8Array }
  | { readonly kind: 'close'; readonly link: number; readonly error: Error | null };
