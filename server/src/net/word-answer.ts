/**
 * The answer to one four-letter word on its way to who asked: made and written in parts.
 *
 * Owns the stream from the word on. A part is written when 64 KB are made, or with the end of the
 * answer, so that a short answer is one chunk (kazoo reads it with a single recv). While the client
 * has not taken what was written, nothing more is made. An error in an answer closes this stream
 * and is logged, and nothing else happens: what a stranger asks must not end the member. Run by the
 * word desk, told of its stream's events by the door.
 */
import type { FourLetterWord } from './four-letter/words.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream } from './transport.js';

export interface WordAnswerParts {
  readonly word: FourLetterWord;
  readonly pieces: Iterator<string>;
  /** It may be long; short ones go first. */
  readonly isListing: boolean;
  readonly stream: ByteStream;
  readonly timers: Timers;
  readonly rateLimited: RateLimitedLog;
  /** How long a client may take to close after the answer. */
  readonly lingerMs: number;
  /** A part was written: whoever takes them is not idle. */
  onPart(): void;
}

/** What became of a step: there is more to do, the client has to take its output, or it is over. */
export type WordStep = 'more' | 'waits' | 'over';

/** Above what a socket of Node asks us to wait at, so that it tells when it is empty again. */
const PART_CHARACTERS = 64 << 10;
const WAIT_BYTES = 64 << 10;
/** Pieces of one step; most are a line. */
const STEP_PIECES = 128;

export class WordAnswer {
  readonly isListing: boolean;
  readonly #parts: WordAnswerParts;
  #text = '';
  #isOver = false;
  #linger: Timer | null = null;

  constructor(parts: WordAnswerParts) {
    this.isListing = parts.isListing;
    this.#parts = parts;
  }

  /** A few pieces more. Not called again once it is over. */
  step(): { readonly kind: WordStep; readonly characters: number } {
    const before = this.#text.length;
    try {
      const isEnd = this.#takePieces();
      const characters = this.#text.length - before;
      if (isEnd) return { kind: this.#end(), characters };
      return { kind: this.#maybeWrite(), characters };
    } catch (error) {
      const { word, stream, rateLimited } = this.#parts;
      rateLimited.error('client.word_failed', { word, remote: stream.remoteAddress, err: error });
      this.#isOver = true;
      stream.destroy();
      return { kind: 'over', characters: 0 };
    }
  }

  /** The stream is gone. */
  onStreamClosed(): void {
    this.#linger?.cancel();
    if (!this.#isOver) this.#parts.pieces.return?.();
    this.#isOver = true;
    this.#text = '';
  }

  /** True at the end of the answer. */
  #takePieces(): boolean {
    for (let pieces = 0; pieces < STEP_PIECES; pieces++) {
      const next = this.#parts.pieces.next();
      if (next.done === true) return true;
      this.#text += next.value;
      if (this.#text.length >= PART_CHARACTERS) return false;
    }
    return false;
  }

  #maybeWrite(): WordStep {
    if (this.#text.length < PART_CHARACTERS) return 'more';
    const { stream } = this.#parts;
    this.#write();
    return stream.bufferedBytes >= WAIT_BYTES ? 'waits' : 'more';
  }

  #end(): WordStep {
    const { stream, timers, lingerMs } = this.#parts;
    this.#isOver = true;
    if (this.#text !== '') this.#write();
    stream.end();
    this.#linger = timers.after(lingerMs, () => stream.destroy());
    return 'over';
  }

  #write(): void {
    const { stream, onPart } = this.#parts;
    stream.write(Buffer.from(this.#text, 'utf8'));
    this.#text = '';
    onPart();
  }
}
