/**
 * Decides by the first four bytes of a client's stream whether it is a four-letter word or frames.
 *
 * A word is answered, and what the client sends after it is ignored; a stream of frames is handed
 * over, with what was read of it, to the connection that the port opens. Extra bytes and a half
 * close are tolerated (`echo stat | nc`). Used only by the client port.
 */
import { unreachable } from '@rookery/protocol';
import type { FourLetterWord } from '../config/four-letter-words.js';
import type { AskedWord } from './four-letter/reply.js';
import { readFirstBytes } from './four-letter/words.js';
import type { ByteStream } from './transport.js';
import type { WordAnswer } from './word-answer.js';

export interface ProtocolSnifferParts {
  readonly stream: ByteStream;
  /** The number of bytes that belong to a word and follow it. */
  argumentBytes(word: FourLetterWord): number;
  /** Makes the answer, at whose end the stream ends. */
  onWord(asked: AskedWord): WordAnswer;
  /** The client has taken everything written so far. */
  onAnswerDrained(answer: WordAnswer): void;
  /** The client sends frames: hands the stream over with all bytes so far, or drops it. */
  onFrames(first: Uint8Array): void;
  /** The client ended its side before it sent a whole word or frame; it may be dropped. */
  onLeft(): void;
  /** Called once when a stream that was not handed over is gone. */
  onClosed(answer: WordAnswer | null): void;
}

const WORD_BYTES = 4;

export class ProtocolSniffer {
  readonly #parts: ProtocolSnifferParts;
  #first: Uint8Array = new Uint8Array(0);
  #answer: WordAnswer | null = null;

  constructor(parts: ProtocolSnifferParts) {
    this.#parts = parts;
  }

  open(): void {
    this.#parts.stream.handle({
      onData: (chunk) => this.#onData(chunk),
      onEnd: () => this.#onEnd(),
      onDrain: () => this.#onDrain(),
      onClose: () => this.#onClose(),
    });
  }

  /** Whether the client of a four-letter word waits for this member to produce the answer. */
  get isClientWaiting(): boolean {
    return this.#answer?.isClientWaiting === true;
  }

  drop(): void {
    this.#parts.stream.destroy();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#answer !== null) return;
    // Copied, because the chunk is only lent.
    this.#first = Buffer.concat([this.#first, chunk]);
    if (this.#first.length < WORD_BYTES) return;
    const first = readFirstBytes(this.#first);
    switch (first.kind) {
      case 'frames':
        this.#parts.onFrames(this.#takeFirst());
        return;
      case 'telnetClose':
        this.drop();
        return;
      case 'word':
        this.#maybeAnswer(first.word);
        return;
      default:
        unreachable(first);
    }
  }

  /** Returns what came so far, and keeps none of it. */
  #takeFirst(): Uint8Array {
    const first = this.#first;
    this.#first = new Uint8Array(0);
    return first;
  }

  /** Waits for the bytes that belong to the word. A client that never sends them times out. */
  #maybeAnswer(word: FourLetterWord): void {
    const end = WORD_BYTES + this.#parts.argumentBytes(word);
    if (this.#first.length < end) return;
    // Copied, so that nothing else that a stranger sent stays in memory while the answer waits.
    const argument = Uint8Array.from(this.#takeFirst().subarray(WORD_BYTES, end));
    this.#answer = this.#parts.onWord({ word, argument });
  }

  #onDrain(): void {
    if (this.#answer !== null) this.#parts.onAnswerDrained(this.#answer);
  }

  #onEnd(): void {
    if (this.#answer === null) this.#parts.onLeft();
  }

  #onClose(): void {
    this.#answer?.onStreamClosed();
    this.#parts.onClosed(this.#answer);
  }
}
