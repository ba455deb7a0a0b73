/**
 * The delay before the next round of connection attempts, which grows exponentially with full
 * jitter.
 *
 * After a connection that lasted, the next round starts at once. A connection that was lost soon
 * after it was made does not count as a success; otherwise a server that accepts sessions and then
 * drops them would be retried without a pause.
 */
import type { Surroundings } from '../api/surroundings.js';

export interface BackOffOptions {
  readonly surroundings: Surroundings;
  readonly reconnectDelayBaseMs: number;
  readonly reconnectDelayMaxMs: number;
}

/** With this exponent the delay has long reached its maximum. */
const ATTEMPTS_MAX = 30;

export class BackOff {
  readonly #options: BackOffOptions;
  /** The number of rounds since the last connection that lasted. */
  #rounds = 0;
  #connectedAtMs = 0;

  constructor(options: BackOffOptions) {
    this.#options = options;
  }

  /** Forgets earlier failures, because they say nothing about the servers that are tried next. */
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

  /** Returns 0 for the first round. */
  nextDelayMs(): number {
    const { surroundings, reconnectDelayBaseMs, reconnectDelayMaxMs } = this.#options;
    const round = this.#rounds;
    this.#rounds = Math.min(round + 1, ATTEMPTS_MAX);
    if (round === 0) return 0;
    const ceilingMs = Math.min(reconnectDelayMaxMs, reconnectDelayBaseMs * 2 ** (round - 1));
    return ceilingMs * surroundings.random();
  }
}
