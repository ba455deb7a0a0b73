/**
 * Bounds how many bytes of unfinished frames are read in one iteration of the event loop, over all
 * clients.
 *
 * Thousands of connections that send large requests at once bring more bytes than can be copied
 * while heartbeats and other clients wait. Once 4 MB of unfinished frames have arrived in an
 * iteration, further connections are paused and resumed in order, as many at a time as can bring
 * 4 MB. A connection with at most 32 KB of a frame is never paused. Owned by the client port.
 */
import type { Timers } from './timers.js';

/** A connection with fewer bytes of a frame is neither counted nor paused. */
export const SMALL_UNFINISHED_BYTES = 32 << 10;
const ROUND_BYTES = 4 << 20;
/** Connections resumed at a time; each mostly brings one read of 64 KB. */
const READERS_PER_ROUND = 64;

export interface PacedReader {
  /** Resumes reading. */
  resumeReading(): void;
}

export class InputPace {
  readonly #timers: Pick<Timers, 'defer'>;
  readonly #waiting = new Set<PacedReader>();
  #bytes = 0;
  #isRoundEndDue = false;

  constructor(timers: Pick<Timers, 'defer'>) {
    this.#timers = timers;
  }

  /** Counts bytes of an unfinished frame. Returns true if the connection must pause. */
  mustWait(reader: PacedReader, bytes: number): boolean {
    this.#bytes += bytes;
    this.#endRoundLater();
    if (this.#bytes <= ROUND_BYTES && this.#waiting.size === 0) return false;
    this.#waiting.add(reader);
    return true;
  }

  /** Forgets a connection that is gone. */
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
      reader.resumeReading();
    }
    if (this.#waiting.size > 0) this.#endRoundLater();
  }
}
