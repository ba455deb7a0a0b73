/**
 * What is watched over while there is a session: its end, this process's lag, a better server.
 *
 * The end is watched for as long as the session lives, the others only while it is connected.
 */
import { LagMonitor, type LagMonitorOptions } from './lag-monitor.js';
import { LostTimer, type LostTimerOptions } from './lost-timer.js';
import { ReadWriteSearch, type ReadWriteSearchOptions } from './read-write-search.js';

export interface VigilOptions extends LagMonitorOptions, LostTimerOptions, ReadWriteSearchOptions {
  /** Heartbeats are sent by another thread: lag of this one does no harm. */
  readonly isLagProof: boolean;
}

export class Vigil {
  readonly #isLagProof: boolean;
  readonly #lostTimer: LostTimer;
  readonly #lagMonitor: LagMonitor;
  readonly #readWriteSearch: ReadWriteSearch;

  constructor(options: VigilOptions) {
    this.#isLagProof = options.isLagProof;
    this.#lostTimer = new LostTimer(options);
    this.#lagMonitor = new LagMonitor(options);
    this.#readWriteSearch = new ReadWriteSearch(options);
  }

  onConnected(connected: { readonly timeoutMs: number; readonly readOnly: boolean }): void {
    this.#lostTimer.start(connected.timeoutMs);
    if (!this.#isLagProof) this.#lagMonitor.start(connected.timeoutMs);
    if (connected.readOnly) this.#readWriteSearch.start();
  }

  onDisconnected(): void {
    this.#lagMonitor.stop();
    this.#readWriteSearch.stop();
  }

  /** The session is over. */
  stop(): void {
    this.onDisconnected();
    this.#lostTimer.stop();
  }
}
