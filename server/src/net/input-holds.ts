/**
 * Why nothing of a connection is delivered at present, and whether its stream is read meanwhile.
 *
 * While there is any reason, the stream is paused, with one exception: a connection that only waits
 * because its client sends too many requests (`rate`) is read ahead up to a bound, so that a client
 * that is gone is noticed, and one that is still there is heard from. Owned by a client connection.
 */
import type { HoldReason } from '../pipeline/client-channel.js';
import type { ByteStream } from './transport.js';

/**
 * Besides the pipeline's reasons there are those of this folder: the client has not taken its
 * output (`output`), the clients' share of this turn is used up (`share`, client-share.ts), or too
 * many bytes of large frames arrive at once (`pace`, client-share.ts). `share` and `pace` pass
 * within a few turns.
 */
export type Hold = HoldReason | 'output' | 'share' | 'pace';

/** One bit for each reason. */
const BITS: Readonly<Record<Hold, number>> = {
  handshake: 1,
  outstanding: 2,
  output: 4,
  room: 8,
  share: 16,
  pace: 32,
  login: 64,
  rate: 128,
};

/**
 * What is read ahead: some hundred requests, which is enough for the pings of a client that waits
 * for an answer.
 */
const READ_AHEAD_BYTES = 16 << 10;

export class InputHolds {
  readonly #stream: ByteStream;
  #bits = 0;
  #isReading = true;

  constructor(stream: ByteStream) {
    this.#stream = stream;
  }

  /** Whether frames may be delivered. */
  get areNone(): boolean {
    return this.#bits === 0;
  }

  /** Whether the stream is read from. */
  get isReading(): boolean {
    return this.#isReading;
  }

  has(hold: Hold): boolean {
    return (this.#bits & BITS[hold]) !== 0;
  }

  /** The stream is paused at once, unless it is read ahead: `adjust` decides that. */
  add(hold: Hold): void {
    this.#bits |= BITS[hold];
    if (this.#bits !== BITS.rate) this.#read(false);
  }

  /** The stream stays as it is until `adjust`. Returns whether there was such a reason. */
  delete(hold: Hold): boolean {
    const had = this.has(hold);
    this.#bits &= ~BITS[hold];
    return had;
  }

  /** Reads or pauses, now that so many bytes have been read and not delivered. */
  adjust(inputBytes: number): void {
    this.#read(this.areNone || (this.#bits === BITS.rate && inputBytes <= READ_AHEAD_BYTES));
  }

  #read(isReading: boolean): void {
    if (isReading === this.#isReading) return;
    this.#isReading = isReading;
    if (isReading) this.#stream.resume();
    else this.#stream.pause();
  }
}
