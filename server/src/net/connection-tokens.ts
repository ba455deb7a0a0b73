/**
 * How fast connections may come: a bucket of tokens, one for each, refilled at a steady rate.
 *
 * For the storm of reconnects behind a restart: who finds no token is closed and comes back a
 * little later, instead of all taking part in one another's timeouts. Off with a size of 0. The
 * clock is an argument. Called by the client port.
 */
import { assert } from '@rookery/protocol';

export interface ConnectionTokensOptions {
  /** Tokens of a full bucket: connections that may come at once. 0: no limit at all. */
  readonly max: number;
  readonly perSecond: number;
}

export class ConnectionTokens {
  readonly #options: ConnectionTokensOptions;
  #tokens: number;
  #filledAtMs: number;

  constructor(options: ConnectionTokensOptions, nowMs: number) {
    assert(options.max === 0 || options.perSecond > 0, 'an empty bucket is filled again');
    this.#options = options;
    this.#tokens = options.max;
    this.#filledAtMs = nowMs;
  }

  /** Whether one more may come now. */
  take(nowMs: number): boolean {
    const { max, perSecond } = this.#options;
    if (max === 0) return true;
    const gained = ((nowMs - this.#filledAtMs) * perSecond) / 1000;
    this.#tokens = Math.min(max, this.#tokens + gained);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
