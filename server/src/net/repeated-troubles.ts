/**
 * Logs a trouble with a peer once and not at each attempt, until it changes or ends.
 *
 * A member that is down is dialled every second, and only the first failure is news. Strangers that
 * claim an id, with a different trouble each time, are bounded by the rate-limited log.
 */
import type { PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { Facts, RateLimitedLog } from './rate-limited-log.js';

export interface Trouble {
  readonly level: 'info' | 'warn' | 'error';
  /** The name of the event, `area.event`. */
  readonly event: string;
  /** The peer that has the trouble, also if a stranger only claims its id. */
  readonly peer: PeerId;
  readonly trouble: Facts & { readonly reason: string };
}

/** The key that all strangers which are not members share. */
const STRANGERS: PeerId = 0;

export class RepeatedTroubles {
  readonly #logger: Logger;
  readonly #rateLimited: RateLimitedLog;
  readonly #isMember: (peer: PeerId) => boolean;
  readonly #last = new Map<PeerId, Map<string, string>>();

  constructor(parts: {
    readonly logger: Logger;
    readonly rateLimited: RateLimitedLog;
    readonly isMember: (peer: PeerId) => boolean;
  }) {
    this.#logger = parts.logger;
    this.#rateLimited = parts.rateLimited;
    this.#isMember = parts.isMember;
  }

  report({ level, event, peer, trouble }: Trouble): void {
    const place = this.#isMember(peer) ? peer : STRANGERS;
    const events = this.#last.get(place) ?? new Map<string, string>();
    this.#last.set(place, events);
    if (events.get(event) === trouble.reason) {
      this.#logger.debug(trouble, event);
      return;
    }
    events.set(event, trouble.reason);
    this.#rateLimited[level](event, trouble, `${event} ${place}`);
  }

  /** The peer is connected, so its next trouble is news. */
  forget(peer: PeerId): void {
    this.#last.delete(peer);
  }
}
