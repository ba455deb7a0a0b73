/**
 * The monitors of a session: one for its loss, one for lag of this process, and one that looks for
 * a member with a quorum.
 *
 * The first runs for as long as the session lives, the others only while it is connected.
 */
import { LagMonitor, type LagMonitorOptions } from './lag-monitor.js';
import { LostTimer, type LostTimerOptions } from './lost-timer.js';
import { ReadWriteSearch, type ReadWriteSearchOptions } from './read-write-search.js';

export interface SessionMonitorsOptions
  extends LagMonitorOptions,
    LostTimerOptions,
    ReadWriteSearchOptions {
  /** Whether another thread sends the heartbeats, so that lag of this thread does no harm. */
  readonly isLagProof: boolean;
}

export class SessionMonitors {
  readonly #isLagProof: boolean;
  readonly #lostTimer: LostTimer;
  readonly #lagMonitor: LagMonitor;
  readonly #readWriteSearch: ReadWriteSearch;

  constructor(options: SessionMonitorsOptions) {
    this.#isLagProof = options.isLagProof;
    const lagMonitor = new LagMonitor(options);
    this.#lagMonitor = lagMonitor;
    this.#lostTimer = new LostTimer({
      surroundings: options.surroundings,
      contact: options.contact,
      onLost: () => {
        lagMonitor.measureNow();
        options.onLost();
      },
    });
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

  /** Called when the session is over. */
  stop(): void {
    this.onDisconnected();
    this.#lostTimer.stop();
  }
}
