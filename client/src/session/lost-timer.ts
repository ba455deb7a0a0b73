/**
 * Tells when a session must be counted as lost, because the server has been silent for so long that
 * it may soon expire it.
 *
 * The deadline is counted from the sending of the last request that was answered: the server had
 * received that one, so it cannot have been waiting for longer. Answers that wait in the socket
 * while this process was busy are read before the judgement.
 */
import type { Surroundings } from '../api/surroundings.js';

/** Of the session timeout: how long before the server may, we count the session as lost. */
const MARGIN_SHARE = 0.1;

export interface LostTimerOptions {
  readonly surroundings: Surroundings;
  /** When the last request that was answered was sent. */
  lastAnsweredMs(): number;
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
      if (surroundings.nowMs() < this.#lostAtMs()) this.#arm();
      else setImmediate(() => this.#judge());
    });
  }

  #judge(): void {
    if (!this.#isRunning || this.#cancelTimer !== null) return;
    if (this.#options.surroundings.nowMs() < this.#lostAtMs()) this.#arm();
    else this.#options.onLost();
  }

  #lostAtMs(): number {
    return this.#options.lastAnsweredMs() + this.#timeoutMs * (1 - MARGIN_SHARE);
  }
}
