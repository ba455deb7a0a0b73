/**
 * Says in the log when something expires that TLS needs at a port: a certificate, an authority or a
 * revocation list.
 *
 * What is noted is logged at once, with when it expires. It is logged as a warning from `warnMs`
 * before that on, and as an error once it has expired: when it comes to that, and again each day.
 * Before `start` and after `close` only `note` itself logs. Used by WatchedTls.
 */
import type { Logger } from 'pino';
import type { Timer, Timers } from './timers.js';

export interface Expiring {
  /** The beginning of the last second in which it is valid, ms since 1970. */
  readonly endsWallMs: number;
  /** What the log says of it: which one it is, and `expires`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

type Validity = 'lasting' | 'ending' | 'expired';

export interface TlsExpiryLogParts {
  /** The names of the lines in the log. */
  readonly events: Readonly<Record<Validity, string>>;
  readonly warnMs: number;
  readonly logger: Logger;
  readonly timers: Timers;
}

const DAY_MS = 24 * 3_600_000;
const LAST_SECOND_MS = 1_000;

export class TlsExpiryLog {
  readonly #parts: TlsExpiryLogParts;
  #noted: Expiring | null = null;
  /** What the log has said last of what is noted. */
  #said: Validity = 'lasting';
  #isFollowing = false;
  #timer: Timer | null = null;

  constructor(parts: TlsExpiryLogParts) {
    this.#parts = parts;
  }

  /** Takes the place of what was noted before; null for nothing that expires. */
  note(expiring: Expiring | null): void {
    this.#noted = expiring;
    if (expiring !== null) this.#say(expiring);
    if (this.#isFollowing) this.#follow();
  }

  /** Starts to follow the time. */
  start(): void {
    this.#isFollowing = true;
    this.#follow();
  }

  close(): void {
    this.#isFollowing = false;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /**
   * Says what is new since it was said last, and looks again when something is to be said, and each
   * day in any case: clocks are set. A timer may also be early by the wall's clock: then nothing is
   * new, and nothing is said.
   */
  #follow(isDaily = false): void {
    this.#timer?.cancel();
    this.#timer = null;
    const expiring = this.#noted;
    if (expiring === null) return;
    const validity = this.#validityOf(expiring);
    if (validity !== 'lasting' && (isDaily || validity !== this.#said)) this.#say(expiring);
    const { warnMs, timers } = this.#parts;
    const leftMs = this.#leftMs(expiring);
    const nextMs = leftMs > warnMs ? leftMs - warnMs : leftMs > 0 ? leftMs : DAY_MS;
    this.#timer = timers.after(Math.min(nextMs, DAY_MS), () => {
      this.#follow(nextMs >= DAY_MS);
    });
  }

  #say(expiring: Expiring): void {
    const { events, logger } = this.#parts;
    this.#said = this.#validityOf(expiring);
    const event = events[this.#said];
    if (this.#said === 'expired') logger.error(expiring.facts, event);
    else if (this.#said === 'ending') logger.warn(expiring.facts, event);
    else logger.info(expiring.facts, event);
  }

  #validityOf(expiring: Expiring): Validity {
    const leftMs = this.#leftMs(expiring);
    if (leftMs <= 0) return 'expired';
    return leftMs <= this.#parts.warnMs ? 'ending' : 'lasting';
  }

  #leftMs({ endsWallMs }: Expiring): number {
    return endsWallMs + LAST_SECOND_MS - this.#parts.timers.wallMs();
  }
}
