/**
 * Counts what all connections of one load see, within the measured time only.
 *
 * Latency runs from just before the write (under a pace: from when it was due) to the moment the
 * reply's chunk is in our hands, so it holds the generator's own delay too. Unpaced the loop is
 * closed: a stalled server is asked nothing more, so a stall shows once per connection and window
 * slot; `silences` show it as what it is. Errors and lost requests count at any time.
 */
import { Histogram } from './histogram.js';

export const SLICE_MS = 100;
const SILENCE_MS = 50;

export class Recorder {
  readonly latency = new Histogram();
  readonly errors = new Map<string, number>();
  /** Operations completed in each tenth of a second. */
  readonly slices: number[] = [];
  /** The slowest of them in each, ms. */
  readonly slowestMs: number[] = [];
  longestSilenceMs = 0;
  /** Times of more than 50 ms without success for anybody. */
  silences = 0;
  lostRequests = 0;
  lostConnections = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.POSITIVE_INFINITY;
  #lastSuccessMs = 0;

  get operations(): number {
    return this.latency.count;
  }

  /** Replies count that come at or after `fromMs` and before `untilMs`. */
  measure(fromMs: number, untilMs: number): void {
    this.#fromMs = fromMs;
    this.#untilMs = untilMs;
    this.#lastSuccessMs = fromMs;
  }

  /** The measured time is over, as planned or earlier; a silence that lasts still counts. */
  end(nowMs: number): void {
    this.#untilMs = Math.min(this.#untilMs, nowMs);
    this.#onSilenceEnd(this.#untilMs);
  }

  onReply(sentMs: number, nowMs: number, isSuccess: boolean): void {
    if (nowMs < this.#fromMs || nowMs >= this.#untilMs) return;
    if (isSuccess && nowMs > this.#lastSuccessMs) this.#onSilenceEnd(nowMs);
    this.latency.add((nowMs - sentMs) * 1000);
    const slice = Math.floor((nowMs - this.#fromMs) / SLICE_MS);
    while (this.slices.length <= slice) {
      this.slices.push(0);
      this.slowestMs.push(0);
    }
    this.slices[slice] = (this.slices[slice] ?? 0) + 1;
    this.slowestMs[slice] = Math.max(this.slowestMs[slice] ?? 0, nowMs - sentMs);
  }

  onError(name: string): void {
    this.errors.set(name, (this.errors.get(name) ?? 0) + 1);
  }

  /** What was outstanding when a connection broke, or was never answered: its fate is unknown. */
  onLost(requests: number): void {
    this.lostConnections++;
    this.lostRequests += requests;
  }

  #onSilenceEnd(nowMs: number): void {
    const silenceMs = nowMs - this.#lastSuccessMs;
    if (silenceMs > this.longestSilenceMs) this.longestSilenceMs = silenceMs;
    if (silenceMs > SILENCE_MS) this.silences++;
    this.#lastSuccessMs = nowMs;
  }
}
