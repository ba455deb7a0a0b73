/**
 * Decides by the first four bytes of a client's stream whether it is a four-letter word or frames.
 *
 * Owns the stream's handlers. A word is answered, and what the client sends after it is ignored;
 * frames are passed to the connection that the port opens. Extra bytes and a half close are
 * tolerated (`echo stat | nc`). Used only by the client port.
 */
import { unreachable } from '@rookery/protocol';
import type { FourLetterWord } from '../four-letter-words.js';
import type { ClientConnection } from './client-connection.js';
import type { AskedWord } from './four-letter/reply.js';
import { readFirstBytes } from './four-letter/words.js';
import type { ByteStream } from './transport.js';
import type { WordAnswer } from './word-answer.js';

export interface ProtocolSnifferParts {
  readonly stream: ByteStream;
  /** The number of bytes that belong to a word and follow it. */
  argumentBytes(word: FourLetterWord): number;
  /** Begins the answer, which ends the stream. */
  onWord(asked: AskedWord): WordAnswer;
  /** The client has taken everything written so far. */
  onAnswerDrained(answer: WordAnswer): void;
  /**
   * The client sends frames: opens a connection, which gets all bytes so far. Returns null if the
   * client is refused.
   */
  onFrames(first: Uint8Array): ClientConnection | null;
  /** The client ended its side before it sent a whole word or frame; it may be dropped. */
  onLeft(): void;
  /** Called once when the stream is gone, with what it was used for; null if it was for nothing. */
  onClosed(purpose: ClientConnection | WordAnswer | null): void;
}

const WORD_BYTES = 4;

export class ProtocolSniffer {
  readonly #parts: ProtocolSnifferParts;
  #first: Uint8Array = new Uint8Array(0);
  #connection: ClientConnection | null = null;
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
    if (this.#connection !== null) {
      this.#connection.onData(chunk);
      return;
    }
    if (this.#answer !== null) return;
    // Copied, because the chunk is only lent.
    this.#first = Buffer.concat([this.#first, chunk]);
    if (this.#first.length < WORD_BYTES) return;
    const first = readFirstBytes(this.#first);
    switch (first.kind) {
      case 'frames':
        this.#openConnection();
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

  #openConnection(): void {
    const bytes = this.#first;
    this.#first = new Uint8Array(0);
    this.#connection = this.#parts.onFrames(bytes);
    if (this.#connection === null) this.drop();
  }

  /** Waits for the bytes that belong to the word. A client that never sends them times out. */
  #maybeAnswer(word: FourLetterWord): void {
    const end = WORD_BYTES + this.#parts.argumentBytes(word);
    if (this.#first.length < end) return;
    // Copied, so that nothing else that a stranger sent stays in memory while the answer waits.
    const argument = Uint8Array.from(this.#first.subarray(WORD_BYTES, end));
    this.#first = new Uint8Array(0);
    this.#answer = this.#parts.onWord({ word, argument });
  }

  #onDrain(): void {
    if (this.#answer !== null) this.#parts.onAnswerDrained(this.#answer);
    else this.#connection?.onDrain();
  }

  #onEnd(): void {
    if (this.#connection !== null) this.#connection.onEnd();
    else if (this.#answer === null) this.#parts.onLeft();
  }

  #onClose(): void {
    this.#answer?.onStreamClosed();
    this.#connection?.onStreamClosed();
    this.#parts.onClosed(this.#connection ?? this.#answer);
  }
}
