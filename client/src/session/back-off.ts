/**
 * How long to wait before the next round of attempts: grows exponentially, with full jitter.
 *
 * The first round after a connection that lasted comes at once. A connection that was lost soon
 * after it was made does not count as a success: a server that accepts sessions and drops them
 * would else be asked without a pause.
 */
import type { Surroundings } from '../api/surroundings.js';

export interface BackOffOptions {
  readonly surroundings: Surroundings;
  readonly reconnectDelayBaseMs: number;
  readonly reconnectDelayMaxMs: number;
}

/** Beyond it the delay has long reached any maximum. */
const ATTEMPTS_MAX = 30;

export class BackOff {
  readonly #options: BackOffOptions;
  /** Rounds since the last connection that lasted. */
  #rounds = 0;
  #connectedAtMs = 0;

  constructor(options: BackOffOptions) {
    this.#options = options;
  }

  /** What was tried in vain says nothing of what is tried next. */
  reset(): void {
    this.#rounds = 0;
  }

  onConnected(): void {
    this.#connectedAtMs = this.#options.surroundings.nowMs();
  }

  onDisconnected(): void {
    const { surroundings, reconnectDelayMaxMs } = this.#options;
    if (surroundings.nowMs() - this.#connectedAtMs >= reconnectDelayMaxMs) this.#rounds = 0;
  }

  /** 0 for the first round. */
  nextDelayMs(): number {
    const { surroundings, reconnectDelayBaseMs, reconnectDelayMaxMs } = this.#options;
    const round = this.#rounds;
    this.#rounds = Math.min(round + 1, ATTEMPTS_MAX);
    if (round === 0) return 0;
    const ceilingMs = Math.min(reconnectDelayMaxMs, reconnectDelayBaseMs * 2 ** (round - 1));
    return ceilingMs * surroundings.random();
  }
}
