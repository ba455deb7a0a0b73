/**
 * Begins a window of all of a member's summaries from time to time, so that their percentiles show
 * the last 5 to 10 minutes, about as ZooKeeper's do. Owned by the member.
 */
import type { SummaryView } from '../measures/summary.js';
import type { Timer, Timers } from '../net/timers.js';

const WINDOW_MS = 5 * 60_000;

export class SummaryWindows {
  #timer: Timer;

  constructor(timers: Timers, summaries: () => Iterable<readonly [name: string, SummaryView]>) {
    const next = (): void => {
      for (const [, summary] of summaries()) summary.nextWindow();
      this.#timer = timers.after(WINDOW_MS, next);
    };
    this.#timer = timers.after(WINDOW_MS, next);
  }

  stop(): void {
    this.#timer.cancel();
  }
}
