/**
 * How much of unfinished frames is read in one round of the event loop, over all clients.
 *
 * Thousands of connections that each send a large request at once bring more bytes in one round
 * than can be copied while heartbeats and other clients wait. Once 4 MB of unfinished frames came
 * in a round, the connections that bring more are not read until their turn comes, in the order in
 * which they were put off: as many in each round as may bring 4 MB. Who has at most 32 KB of a
 * frame is never put off. Owned by the client port; told by its connections.
 */
import type { Timers } from './timers.js';

/** Below it what a connection has of a frame is neither counted nor put off. */
export const SMALL_UNFINISHED_BYTES = 32 << 10;
const ROUND_BYTES = 4 << 20;
/** Each brings one read of 64 KB, mostly. */
const READERS_PER_ROUND = 64;

export interface PacedReader {
  /** It is read again. */
  goOnReading(): void;
}

export class InputPace {
  readonly #timers: Pick<Timers, 'defer'>;
  readonly #waiting = new Set<PacedReader>();
  #bytes = 0;
  #isRoundEndDue = false;

  constructor(timers: Pick<Timers, 'defer'>) {
    this.#timers = timers;
  }

  /** It was read and has so many bytes more of a frame; whether it must wait to be read again. */
  mustWait(reader: PacedReader, bytes: number): boolean {
    this.#bytes += bytes;
    this.#endRoundLater();
    if (this.#bytes <= ROUND_BYTES && this.#waiting.size === 0) return false;
    this.#waiting.add(reader);
    return true;
  }

  /** It is gone. */
  forget(reader: PacedReader): void {
    this.#waiting.delete(reader);
  }

  #endRoundLater(): void {
    if (this.#isRoundEndDue) return;
    this.#isRoundEndDue = true;
    this.#timers.defer(() => this.#endRound());
  }

  #endRound(): void {
    this.#isRoundEndDue = false;
    this.#bytes = 0;
    let left = READERS_PER_ROUND;
    for (const reader of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(reader);
      reader.goOnReading();
    }
    if (this.#waiting.size > 0) this.#endRoundLater();
  }
}
