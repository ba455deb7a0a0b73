/**
 * The answer to one four-letter word, which is produced and written in parts.
 *
 * Owns the stream after the word. A part is written when it has 64 KB or the answer ends, so a
 * short answer is one chunk (kazoo reads it with a single recv). Nothing more is produced while the
 * client has not taken what was written. An error in an answer is logged and closes only this
 * stream, because no stranger's question may end the member. Run by the word scheduler; the
 * protocol sniffer reports events of the stream.
 */
import type { FourLetterWord } from '../config/four-letter-words.js';
import { addressGroup } from '../security/address-group.js';
import type { FairSlot } from './fair-slots.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream } from './transport.js';

export interface WordAnswerParts {
  readonly word: FourLetterWord;
  readonly pieces: Iterator<string>;
  /** Whether the answer may take long, as a listing does. Short answers come first. */
  readonly isListing: boolean;
  readonly stream: ByteStream;
  readonly timers: Timers;
  readonly rateLimited: RateLimitedLog;
  /** How long a client may take to close after the answer, in ms. */
  readonly lingerMs: number;
  /** Called for each part that was written; a client that takes parts is not idle. */
  onPart(): void;
}

/** The result of a step: more to do, waiting for the client, or done. */
export type WordStep = 'more' | 'waits' | 'over';

/** An answer is written when it has so many characters, or ends. */
const PART_CHARACTERS = 64 << 10;
/**
 * An answer waits while its stream buffers this many bytes. That is not below the high-water mark
 * of a socket of Node, so 'drain' is sure to follow.
 */
const WAIT_BYTES = 64 << 10;
/** The number of pieces in one step; most pieces are lines. */
const STEP_PIECES = 128;

export class WordAnswer implements FairSlot {
  readonly isListing: boolean;
  readonly group: string;
  readonly #parts: WordAnswerParts;
  #text = '';
  #isOver = false;
  #linger: Timer | null = null;

  constructor(parts: WordAnswerParts) {
    this.isListing = parts.isListing;
    this.group = addressGroup(parts.stream.remoteAddress);
    this.#parts = parts;
  }

  /** Whether the client has taken everything so far and the answer is not complete. */
  get isClientWaiting(): boolean {
    return !this.#isOver && this.#parts.stream.bufferedBytes === 0;
  }

  /** Produces some more pieces. Not called after the end. */
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

  /** Gives the answer up, which its client does not take. `onStreamClosed` follows. */
  drop(): void {
    const { word, stream, rateLimited } = this.#parts;
    rateLimited.warn('client.word_dropped', { word, remote: stream.remoteAddress });
    stream.destroy();
  }

  /** Called when the stream is gone. */
  onStreamClosed(): void {
    this.#linger?.cancel();
    if (!this.#isOver) this.#parts.pieces.return?.();
    this.#isOver = true;
    this.#text = '';
  }

  /** Returns true at the end of the answer. */
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
