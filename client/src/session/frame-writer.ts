/**
 * Frames out: written into one buffer and given to the link once per turn.
 *
 * The flush comes by `process.nextTick`, which runs when the code that is running now, with all
 * promises it has settled, is through; so what it asks for goes out in one write. A frame that
 * cannot be encoded leaves no byte behind.
 */
import { type Codec, JuteWriter } from '@rookery/protocol';
import { RequestTooLargeError } from '../errors.js';

/** Beyond it a turn's requests go out in several writes, so that no giant buffer is copied. */
const FLUSH_BYTES = 256 * 1024;
/** What a frame begins with; a limit does not count it. */
const LENGTH_BYTES = 4;

export class FrameWriter {
  readonly #writer = new JuteWriter();
  readonly #frameBytesMax: number;
  readonly #output: (bytes: Uint8Array) => void;
  #isScheduled = false;
  #isClosed = false;

  constructor(frameBytesMax: number, output: (bytes: Uint8Array) => void) {
    this.#frameBytesMax = frameBytesMax;
    this.#output = output;
  }

  /** Nothing is written any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Throws what the body throws, or RequestTooLargeError, and then nothing is sent. */
  request(xid: number, opcode: number, body: { write(writer: JuteWriter): void } | null): void {
    const writer = this.#writer;
    const before = writer.length;
    try {
      writer.beginFrame();
      writer.int(xid);
      writer.int(opcode);
      body?.write(writer);
      writer.endFrame();
      const sizeBytes = writer.length - before - LENGTH_BYTES;
      if (sizeBytes > this.#frameBytesMax) {
        throw new RequestTooLargeError({ sizeBytes, sizeBytesMax: this.#frameBytesMax });
      }
    } catch (error) {
      writer.truncate(before);
      throw error;
    }
    this.#schedule();
  }

  /** A frame without a header: the handshake. */
  bare<T>(codec: Codec<T>, value: T): void {
    this.#writer.beginFrame();
    codec.write(this.#writer, value);
    this.#writer.endFrame();
    this.flush();
  }

  flush(): void {
    if (this.#isClosed || this.#writer.length === 0) return;
    this.#output(this.#writer.take());
  }

  #schedule(): void {
    if (this.#writer.length >= FLUSH_BYTES) this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(this.#onTurnEnd);
  }

  readonly #onTurnEnd = (): void => {
    this.#isScheduled = false;
    this.flush();
  };
}
