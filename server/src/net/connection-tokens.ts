/**
 * A token bucket that bounds the rate of new connections.
 *
 * It protects a member from the storm of reconnects after a restart: a connection without a token
 * is closed and tries again a little later, so that not all of them time out together. A size of 0
 * turns it off. The clock is an argument. Called by the client port.
 */
import { assert } from '@rookery/protocol';

export interface ConnectionTokensOptions {
  /** The size of the bucket: connections that may come at once. 0 means no limit. */
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

  /** Takes a token for a connection; false if there is none. */
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
