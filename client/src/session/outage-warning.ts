/**
 * Logs a warning, once per outage, if no server has given a session for a while. It names the last
 * error of each server. Each single attempt is published on the channel `rookery:client:attempt`.
 */
import { errorMessage } from '@rookery/protocol';
import type { Log } from '../api/logger.js';
import type { Surroundings } from '../api/surroundings.js';
import { type ServerName, serverText } from '../wire/connect-string.js';

/** Shorter outages, such as the election of a leader, do not deserve a warning. */
const OUTAGE_MS = 5_000;
/** How many errors the warning names if an ensemble has many addresses. */
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
    const message = `no server for ${Math.round(outageMs / 1000)} s, still trying: ${named}`;
    this.#options.log.warn('session.no_server', message, { outageMs: Math.round(outageMs) });
  }

  /** Called when the outage is over or the servers were replaced; forgets the errors. */
  reset(): void {
    this.#sinceMs = null;
    this.#isSaid = false;
    this.#reasons.clear();
  }
}

/** Prefers the system's error to the error that wraps it, because it says more. */
function reasonOf(error: Error): string {
  return errorMessage(error.cause instanceof Error ? error.cause : error);
}
