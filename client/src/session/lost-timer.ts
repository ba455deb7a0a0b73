/**
 * Determines when a session must count as lost because the server has been silent for so long that
 * it may soon expire the session.
 *
 * The deadline counts from when the last answered request was sent. The server received that
 * request, so its own clock started no earlier. When the deadline has passed, answers that arrived
 * while this process was busy may still be unread. They prove no more than that the session lived
 * when the newest request was sent (`provableMs`). If that is too long ago as well, they cannot
 * help, and the session is lost at once, before data in other sockets is handled as if it still
 * existed. Otherwise they are read first.
 */
import type { Surroundings } from '../api/surroundings.js';
import type { Contact } from './contact.js';

/**
 * How long before the server could expire the session it counts as lost, as a share of its timeout.
 */
const MARGIN_SHARE = 0.1;

export interface LostTimerOptions {
  readonly surroundings: Surroundings;
  readonly contact: Pick<Contact, 'lastAnsweredMs' | 'provableMs'>;
  onLost(): void;
}

export class LostTimer {
  readonly #options: LostTimerOptions;
  #timeoutMs = 0;
  #cancelTimer: (() => void) | null = null;
  #isRunning = false;

  constructor(options: LostTimerOptions) {
    this.#options = options;
  }

  /** Starts, or restarts with another timeout. */
  start(sessionTimeoutMs: number): void {
    this.#timeoutMs = sessionTimeoutMs;
    this.#isRunning = true;
    this.#arm();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #arm(): void {
    this.#cancelTimer?.();
    const { surroundings } = this.#options;
    const delayMs = Math.max(this.#lostAtMs() - surroundings.nowMs(), 1);
    this.#cancelTimer = surroundings.setTimer(delayMs, () => {
      this.#cancelTimer = null;
      const { contact, onLost } = this.#options;
      const nowMs = surroundings.nowMs();
      if (nowMs < this.#lostAtMs()) this.#arm();
      else if (nowMs >= contact.provableMs + this.#spanMs()) onLost();
      else setImmediate(() => this.#judge());
    });
  }

  #judge(): void {
    if (!this.#isRunning || this.#cancelTimer !== null) return;
    if (this.#options.surroundings.nowMs() < this.#lostAtMs()) this.#arm();
    else this.#options.onLost();
  }

  #lostAtMs(): number {
    return this.#options.contact.lastAnsweredMs + this.#spanMs();
  }

  #spanMs(): number {
    return this.#timeoutMs * (1 - MARGIN_SHARE);
  }
}
