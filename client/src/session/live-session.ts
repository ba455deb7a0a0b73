/**
 * One session, as the application sees it, and its end.
 */
import { setMaxListeners } from 'node:events';
import type { Session } from '../api/values.js';

export class LiveSession implements Session {
  readonly id: bigint;
  readonly password: Uint8Array;
  /** Changes when a resumed connection negotiates another. */
  timeoutMs: number;
  /** Whether a read-only member gave it, which alone knows it. */
  isLocal = false;
  readonly #controller = new AbortController();

  constructor(id: bigint, password: Uint8Array, timeoutMs: number) {
    this.id = id;
    this.password = password;
    this.timeoutMs = timeoutMs;
    // Whatever an application has that ends with the session may listen.
    setMaxListeners(0, this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Idempotent. What listeners throw is reported by Node as uncaught, not to us. */
  end(reason: Error): void {
    this.#controller.abort(reason);
  }
}
