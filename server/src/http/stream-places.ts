/**
 * The places of those who follow one kind of stream at a port.
 *
 * The port has so many of them, and one asker three quarters of these at most, so that whoever
 * opens streams without end leaves the others theirs. A place is taken until its stream ends. Used
 * by whatever answers with a stream.
 */
import { HttpError } from './http-error.js';

export interface StreamPlacesOptions {
  readonly max: number;
  /** What a reader does, for the sentence that refuses one: `follow the events`. */
  readonly what: string;
  /** What a reader can do where all places are taken. */
  readonly otherwise: string;
}

const OF_ASKER = 3 / 4;
const RETRY_AFTER = { 'retry-after': '5' };

export class StreamPlaces {
  readonly #options: StreamPlacesOptions;
  /** The places of each asker that has any. */
  readonly #taken = new Map<string, number>();
  #count = 0;

  constructor(options: StreamPlacesOptions) {
    this.#options = options;
  }

  /** Returns how to give the place back, which is done once. Throws HttpError if none is free. */
  take(asker: string): () => void {
    const { max, what, otherwise } = this.#options;
    const own = this.#taken.get(asker) ?? 0;
    if (own >= Math.floor(max * OF_ASKER)) {
      const sentence = `You ${what} ${own} times here already: end one of these streams first.`;
      throw new HttpError(429, sentence, RETRY_AFTER);
    }
    if (this.#count >= max) {
      const sentence = `${max} readers ${what} here already: ${otherwise}.`;
      throw new HttpError(429, sentence, RETRY_AFTER);
    }
    this.#taken.set(asker, own + 1);
    this.#count += 1;
    return () => this.#giveBack(asker);
  }

  #giveBack(asker: string): void {
    const left = (this.#taken.get(asker) ?? 1) - 1;
    if (left === 0) this.#taken.delete(asker);
    else this.#taken.set(asker, left);
    this.#count -= 1;
  }
}
