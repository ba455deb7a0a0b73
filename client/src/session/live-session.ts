/**
 * One session, as the application sees it, until its end.
 */
import { setMaxListeners } from 'node:events';
import type { Session } from '../api/values.js';

export class LiveSession implements Session {
  readonly id: bigint;
  readonly password: Uint8Array;
  /** It changes if a resumed connection negotiates another timeout. */
  timeoutMs: number;
  /** Whether the session was opened by a read-only member, which alone knows it. */
  openedReadOnly = false;
  #isAnnounced = false;
  readonly #controller = new AbortController();

  constructor(id: bigint, password: Uint8Array, timeoutMs: number) {
    this.id = id;
    this.password = password;
    this.timeoutMs = timeoutMs;
    // An application may have any number of listeners for the end of a session.
    setMaxListeners(0, this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The application is told of it. Returns whether that is for the first time. */
  announce(): boolean {
    const isFirst = !this.#isAnnounced;
    this.#isAnnounced = true;
    return isFirst;
  }

  /**
   * Ends the session. Calling it again has no effect. Node reports what listeners throw as
   * uncaught.
   */
  end(reason: Error): void {
    this.#controller.abort(reason);
  }
}
