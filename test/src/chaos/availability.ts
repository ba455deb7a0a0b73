/**
 * When writes were acknowledged, and so how long none was.
 *
 * Times are ms of one monotonic clock, given in their order. Pure; fed by the probes.
 */
export class Availability {
  readonly #acknowledgedMs: number[] = [];

  onAcknowledged(atMs: number): void {
    // One a ms is enough, and bounds what an hour takes.
    const last = this.#acknowledgedMs.at(-1);
    if (last === undefined || atMs >= last + 1) this.#acknowledgedMs.push(atMs);
  }

  /** The longest time within `fromMs` to `toMs` in which no write was acknowledged, ms. */
  longestGapMs(fromMs: number, toMs: number): number {
    const within = this.#acknowledgedMs.filter((at) => at > fromMs && at < toMs);
    const times = [fromMs, ...within, toMs];
    return times.reduce((worst, at, index) => Math.max(worst, at - (times[index - 1] ?? at)), 0);
  }
}
