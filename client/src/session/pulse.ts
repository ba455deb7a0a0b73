/**
 * Sends the heartbeats of a connection and detects its silence.
 *
 * A ping is sent if nothing else was sent for `intervalMs`. The connection is silent if a request
 * waits for an answer and nothing was received for `silenceMs`. Time in which this process was busy
 * and sent nothing does not count as silence of the server, and bytes that wait in the socket are
 * read before the decision. There is one timer.
 */
import type { Surroundings } from '../api/surroundings.js';

export interface PulseOptions {
  readonly surroundings: Surroundings;
  readonly intervalMs: number;
  readonly silenceMs: number;
  sendPing(): void;
  onSilence(): void;
}

export class Pulse {
  readonly #options: PulseOptions;
  #lastSentMs: number;
  #lastReceivedMs: number;
  /** When the first request was sent since something was last received, or NaN. */
  #waitingSinceMs = Number.NaN;
  #cancelTimer: (() => void) | null = null;
  #isStopped = false;

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#lastSentMs = options.surroundings.nowMs();
    this.#lastReceivedMs = this.#lastSentMs;
    this.#arm();
  }

  onSent(nowMs: number): void {
    this.#lastSentMs = nowMs;
    if (Number.isNaN(this.#waitingSinceMs)) this.#waitingSinceMs = nowMs;
  }

  onReceived(nowMs: number): void {
    this.#lastReceivedMs = nowMs;
    this.#waitingSinceMs = Number.NaN;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #arm(): void {
    const { surroundings, intervalMs } = this.#options;
    const dueMs = Math.min(this.#lastSentMs + intervalMs, this.#silenceAtMs());
    const delayMs = Math.max(dueMs - surroundings.nowMs(), 1);
    this.#cancelTimer = surroundings.setTimer(delayMs, () => this.#onTimer());
  }

  #onTimer(): void {
    const { surroundings, intervalMs, sendPing } = this.#options;
    const nowMs = surroundings.nowMs();
    if (nowMs >= this.#silenceAtMs()) {
      setImmediate(() => this.#judge());
      return;
    }
    if (nowMs >= this.#lastSentMs + intervalMs) sendPing();
    this.#arm();
  }

  #judge(): void {
    if (this.#isStopped) return;
    if (this.#options.surroundings.nowMs() >= this.#silenceAtMs()) this.#options.onSilence();
    else this.#arm();
  }

  /** Infinity while no request waits for an answer. */
  #silenceAtMs(): number {
    if (Number.isNaN(this.#waitingSinceMs)) return Number.POSITIVE_INFINITY;
    const { intervalMs, silenceMs } = this.#options;
    return Math.max(
      this.#lastReceivedMs + silenceMs,
      this.#waitingSinceMs + silenceMs - intervalMs,
    );
  }
}
