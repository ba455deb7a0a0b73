/**
 * Counts what all connections see, within the measured time only.
 *
 * Latency runs from just before the write to the moment the reply's chunk is in our hands, so it
 * holds the generator's own delay too. The loop is closed: a stalled server is asked nothing more,
 * so a stall shows once per connection and window slot; `silences` show it as what it is. Errors
 * and lost requests count at any time.
 */
import { Histogram } from './histogram.js';

const SILENCE_US = 50_000;
const SLICE_MS = 100;

export class Recorder {
  readonly latency = new Histogram();
  readonly errors = new Map<string, number>();
  /** Operations completed in each tenth of a second. */
  readonly slices: number[] = [];
  longestSilenceMs = 0;
  /** Times of more than 50 ms without any reply to anybody. */
  silences = 0;
  lostRequests = 0;
  lostConnections = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.POSITIVE_INFINITY;
  #lastReplyMs = 0;

  get operations(): number {
    return this.latency.count;
  }

  /** Replies count that come at or after `fromMs` and before `untilMs`. */
  measure(fromMs: number, untilMs: number): void {
    this.#fromMs = fromMs;
    this.#untilMs = untilMs;
    this.#lastReplyMs = fromMs;
  }

  /** Once per chunk of replies, before its `onReply`s. */
  onChunk(nowMs: number): void {
    if (nowMs < this.#fromMs) return;
    if (this.#lastReplyMs < this.#untilMs) {
      const silenceMs = nowMs - this.#lastReplyMs;
      if (silenceMs > this.longestSilenceMs) this.longestSilenceMs = silenceMs;
      if (silenceMs * 1000 > SILENCE_US) this.silences++;
    }
    this.#lastReplyMs = nowMs;
  }

  onReply(sentMs: number, nowMs: number): void {
    if (nowMs < this.#fromMs || nowMs >= this.#untilMs) return;
    this.latency.add((nowMs - sentMs) * 1000);
    const slice = Math.floor((nowMs - this.#fromMs) / SLICE_MS);
    while (this.slices.length <= slice) this.slices.push(0);
    this.slices[slice] = (this.slices[slice] ?? 0) + 1;
  }

  onError(name: string): void {
    this.errors.set(name, (this.errors.get(name) ?? 0) + 1);
  }

  /** What was outstanding when a connection broke, or was never answered: its fate is unknown. */
  onLost(requests: number): void {
    this.lostConnections++;
    this.lostRequests += requests;
  }
}
