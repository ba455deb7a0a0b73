/**
 * Measures the lag of the event loop while heartbeats depend on it, and reports lag that endangers
 * the session: each time on the channel `rookery:client:lag`, and at most once a minute in the log.
 * It measures once more right before the session is given up, and logs that lag in any case.
 */
import type { Log } from '../api/logger.js';
import type { Surroundings } from '../api/surroundings.js';
import { publishLag } from './diagnostics.js';

/** Shares of the session timeout: the interval of measurements, and the lag that is reported. */
const MEASURE_SHARE = 1 / 12;
const DANGER_SHARE = 1 / 4;
const MEASURE_MS_MIN = 50;
const WARNING_PAUSE_MS = 60_000;

export interface LagMonitorOptions {
  readonly surroundings: Surroundings;
  readonly log: Log;
  /** The name of the client, for diagnostics. */
  readonly name: string;
}

export class LagMonitor {
  readonly #options: LagMonitorOptions;
  #cancelTimer: (() => void) | null = null;
  /** Ends the measurement whose timer is set, and begins the next one. */
  #finish: (() => void) | null = null;
  /** No line is logged before this time. */
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: LagMonitorOptions) {
    this.#options = options;
  }

  /** Starts, or restarts with another timeout. */
  start(sessionTimeoutMs: number): void {
    this.stop();
    this.#measure(sessionTimeoutMs);
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#finish = null;
  }

  /**
   * Measures without waiting for the timer. Called before the session is given up: after a lag, all
   * timers are late, and that of this monitor may be behind the one that ends the session. The log
   * tells such a lag in any case, because it explains the loss.
   */
  measureNow(): void {
    this.#quietUntilMs = Number.NEGATIVE_INFINITY;
    this.#cancelTimer?.();
    this.#finish?.();
  }

  #measure(sessionTimeoutMs: number): void {
    const { surroundings } = this.#options;
    const periodMs = Math.max(sessionTimeoutMs * MEASURE_SHARE, MEASURE_MS_MIN);
    const dueMs = surroundings.nowMs() + periodMs;
    const finish = (): void => {
      const lagMs = surroundings.nowMs() - dueMs;
      this.#measure(sessionTimeoutMs);
      if (lagMs >= sessionTimeoutMs * DANGER_SHARE) this.#tell({ lagMs, sessionTimeoutMs });
    };
    this.#cancelTimer = surroundings.setTimer(periodMs, finish);
    this.#finish = finish;
  }

  #tell(lag: { readonly lagMs: number; readonly sessionTimeoutMs: number }): void {
    publishLag({ client: this.#options.name, ...lag });
    const nowMs = this.#options.surroundings.nowMs();
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = nowMs + WARNING_PAUSE_MS;
    const message =
      `the process was blocked or suspended for ${Math.round(lag.lagMs)} ms and sent no ` +
      `heartbeats; the session's timeout is ${lag.sessionTimeoutMs} ms: see option "worker"`;
    this.#options.log.warn('session.lag', message, lag);
  }
}
