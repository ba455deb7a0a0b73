/**
 * Counts what all connections of one load see, within the measured time only.
 *
 * Latency runs from just before the write (with a pace: from when the request was due) to the
 * arrival of the reply's chunk, so it includes the generator's own delay. Without a pace, the loop
 * is closed: a stalled server receives nothing more, so a stall shows once for each connection and
 * window slot; `silences` shows it as what it is. Errors and lost requests count at any time.
 */
import { Histogram } from './histogram.js';

export const SLICE_MS = 100;
const SILENCE_MS = 50;

export class Recorder {
  readonly latency = new Histogram();
  readonly errors = new Map<string, number>();
  /** The number of operations completed in each tenth of a second. */
  readonly slices: number[] = [];
  /** The slowest of them in each, in ms. */
  readonly slowestMs: number[] = [];
  longestSilenceMs = 0;
  /** The periods of more than 50 ms in which no request of any connection succeeded. */
  silences = 0;
  lostRequests = 0;
  lostConnections = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.POSITIVE_INFINITY;
  #lastSuccessMs = 0;

  get operations(): number {
    return this.latency.count;
  }

  /** Replies count if they come at or after `fromMs` and before `untilMs`. */
  measure(fromMs: number, untilMs: number): void {
    this.#fromMs = fromMs;
    this.#untilMs = untilMs;
    this.#lastSuccessMs = fromMs;
  }

  /** Ends the measured time, as planned or earlier; a silence that is not over still counts. */
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

  /**
   * Requests that were outstanding when a connection broke, or were never answered: their outcome
   * is unknown.
   */
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
