/**
 * Tells when a session must be counted as lost, because the server has been silent for so long that
 * it may soon expire it.
 *
 * The deadline is counted from the sending of the last request that was answered: the server had
 * received that one, so it cannot have been waiting for longer. Answers that wait in the socket
 * while this process was busy are read before the judgement, unless no answer to a request of the
 * session can change it: what waits in other sockets is then not handled as if the session stood.
 */
import type { Surroundings } from '../api/surroundings.js';
import type { Contact } from './contact.js';

/** Of the session timeout: how long before the server may, we count the session as lost. */
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

  /** Also when it runs already, with another timeout. */
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
