/**
 * The first four bytes of a client's stream: a four-letter word, or the start of frames.
 *
 * Owns the stream's handlers: answers a word in one write and ends the stream, whatever else the
 * client sends; or hands the bytes on to the connection that the port opens. Extra bytes and a
 * half close are tolerated (`echo stat | nc`). Used by the client port alone.
 */
import { unreachable } from '@rookery/protocol';
import type { ClientConnection } from './client-connection.js';
import type { AskedWord } from './four-letter/reply.js';
import { type FourLetterWord, readFirstBytes } from './four-letter/words.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream } from './transport.js';

export interface ClientDoorParts {
  readonly stream: ByteStream;
  readonly timers: Timers;
  /** How long a client may take to close after the answer to a word. */
  readonly lingerMs: number;
  /** Bytes that belong to a word and follow it. */
  argumentBytes(word: FourLetterWord): number;
  /** The text of the answer. */
  onWord(asked: AskedWord): string;
  /**
   * The client speaks frames: opens the connection and gives it all bytes so far. Null: it is not
   * let in, and dropped.
   */
  onFrames(first: Uint8Array): ClientConnection | null;
  /** Once, when the stream is gone. */
  onClosed(connection: ClientConnection | null): void;
}

const WORD_BYTES = 4;

export class ClientDoor {
  readonly #parts: ClientDoorParts;
  #first: Uint8Array = new Uint8Array(0);
  #connection: ClientConnection | null = null;
  #isAnswered = false;
  #linger: Timer | null = null;

  constructor(parts: ClientDoorParts) {
    this.#parts = parts;
  }

  open(): void {
    this.#parts.stream.handle({
      onData: (chunk) => this.#onData(chunk),
      onEnd: () => this.#onEnd(),
      onDrain: () => this.#connection?.onDrain(),
      onClose: () => this.#onClose(),
    });
  }

  drop(): void {
    this.#parts.stream.destroy();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#connection !== null) {
      this.#connection.onData(chunk);
      return;
    }
    if (this.#isAnswered) return;
    // A copy: the chunk is only lent.
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

  /** Waits for what belongs to the word; who never sends it is dropped in time. */
  #maybeAnswer(word: FourLetterWord): void {
    const end = WORD_BYTES + this.#parts.argumentBytes(word);
    if (this.#first.length < end) return;
    const argument = this.#first.subarray(WORD_BYTES, end);
    this.#answer(this.#parts.onWord({ word, argument }));
  }

  /** One chunk: kazoo reads the reply with a single recv. */
  #answer(text: string): void {
    const { stream, timers, lingerMs } = this.#parts;
    this.#isAnswered = true;
    this.#first = new Uint8Array(0);
    stream.write(Buffer.from(text, 'utf8'));
    stream.end();
    this.#linger = timers.after(lingerMs, () => stream.destroy());
  }

  #onEnd(): void {
    if (this.#connection !== null) this.#connection.onEnd();
    else if (!this.#isAnswered) this.drop();
  }

  #onClose(): void {
    this.#linger?.cancel();
    this.#connection?.onStreamClosed();
    this.#parts.onClosed(this.#connection);
  }
}
