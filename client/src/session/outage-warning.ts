/**
 * Warns, once in each outage, when no server has given a session for a while: with the reason of
 * each server, in the log. Whoever wants every attempt subscribes to the channel
 * `rookery:client:attempt`.
 */
import type { Log } from '../api/logger.js';
import type { Surroundings } from '../api/surroundings.js';
import { type ServerName, serverText } from '../wire/connect-string.js';

/** Shorter outages, such as the change of a leader, are not worth a warning. */
const OUTAGE_MS = 5_000;
/** What the warning names, of an ensemble with many addresses. */
const REASONS_MAX = 10;

export interface OutageWarningOptions {
  readonly surroundings: Surroundings;
  readonly log: Log;
}

export class OutageWarning {
  readonly #options: OutageWarningOptions;
  /** When the first round of this outage began, or null. */
  #sinceMs: number | null = null;
  #isSaid = false;
  /** The last error of each server in this outage. */
  readonly #reasons = new Map<string, string>();

  constructor(options: OutageWarningOptions) {
    this.#options = options;
  }

  onRoundStarted(): void {
    this.#sinceMs ??= this.#options.surroundings.nowMs();
  }

  onAttemptFailed(server: ServerName, error: Error): void {
    this.#reasons.set(serverText(server), reasonOf(error));
  }

  onRoundFailed(): void {
    if (this.#isSaid || this.#sinceMs === null) return;
    const outageMs = this.#options.surroundings.nowMs() - this.#sinceMs;
    if (outageMs < OUTAGE_MS) return;
    this.#isSaid = true;
    const reasons = [...this.#reasons].map(([server, reason]) => `${server}: ${reason}`);
    const more = reasons.length - REASONS_MAX;
    const named = reasons.slice(0, REASONS_MAX).join('; ') + (more > 0 ? `; ${more} more` : '');
    const message = `no server for ${Math.round(outageMs / 1000)} s, and still trying: ${named}`;
    this.#options.log.warn('session.no_server', message, { outageMs: Math.round(outageMs) });
  }

  /** The outage is over, or other servers are asked: what was said is forgotten. */
  reset(): void {
    this.#sinceMs = null;
    this.#isSaid = false;
    this.#reasons.clear();
  }
}

/** An error of ours that wraps one of the system says less than that. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
