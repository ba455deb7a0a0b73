/**
 * Writes outgoing frames into one buffer and passes it to the link once per turn.
 *
 * The flush is scheduled by `process.nextTick`, which runs after the current code and all promises
 * that it has settled, so all requests of that code leave in one write. A frame that cannot be
 * encoded leaves no bytes in the buffer.
 */
import { type Codec, JuteWriter } from '@rookery/protocol';
import { RequestTooLargeError } from '../api/errors.js';

/** A turn's requests beyond this size leave in several writes, so that no huge buffer is copied. */
const FLUSH_BYTES = 256 * 1024;
/** The length prefix of a frame, which limits do not include. */
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

  /** Discards everything from here on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Writes a request. If the body throws, or with RequestTooLargeError, nothing is sent. */
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

  /** Writes a frame without a header, as the handshake is one. */
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
