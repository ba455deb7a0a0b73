/**
 * Remembers when writes were acknowledged, and tells for how long none was.
 *
 * Times are ms of one monotonic clock and never go back. The probes call it. It is pure.
 */
export class Availability {
  readonly #acknowledgedMs: number[] = [];

  onAcknowledged(atMs: number): void {
    // One time for each millisecond is enough, and bounds the memory for a run of an hour.
    const last = this.#acknowledgedMs.at(-1);
    if (last === undefined || atMs >= last + 1) this.#acknowledgedMs.push(atMs);
  }

  /** Returns the longest time between `fromMs` and `toMs` without an acknowledged write, in ms. */
  longestGapMs(fromMs: number, toMs: number): number {
    const within = this.#acknowledgedMs.filter((at) => at > fromMs && at < toMs);
    const times = [fromMs, ...within, toMs];
    return times.reduce((worst, at, index) => Math.max(worst, at - (times[index - 1] ?? at)), 0);
  }
}
