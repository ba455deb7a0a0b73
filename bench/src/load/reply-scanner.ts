/**
 * Splits a stream of replies into frames and reads their headers in place, without an object for
 * each.
 *
 * The generator must be cheaper than any server that it measures, so chunks are scanned in place;
 * only a frame that spans chunks is copied. A chunk is not kept after `scan`. A frame longer than
 * the limit ends the scan with an error, because the stream does not consist of replies.
 */
import { FrameError, viewOf } from '@rookery/protocol';

/**
 * Receives the position of the frame without its length: the xid at `at`, the zxid at +4, the error
 * at +12, then the body.
 */
export type OnFrame = (view: DataView, at: number, length: number) => void;

const HEADER_BYTES = 4;
const FRAME_BYTES_MAX = 64 << 20;
const NOTHING = Buffer.alloc(0);

export class ReplyScanner {
  readonly #onFrame: OnFrame;
  #rest = NOTHING;
  /** A view of the last chunk: all chunks are in the same memory. */
  #memory: Uint8Array = NOTHING;
  #view = viewOf(NOTHING);

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /**
   * Calls back for every frame that is complete now, in order. The chunk is the first `length`
   * bytes of `memory`. Throws FrameError.
   */
  scan(memory: Uint8Array, length: number = memory.length): void {
    if (this.#rest.length > 0) {
      const bytes = Buffer.concat([this.#rest, memory.subarray(0, length)]);
      this.#keep(bytes, this.#scanFrames(viewOf(bytes), bytes.length), bytes.length);
      return;
    }
    if (memory !== this.#memory) {
      this.#memory = memory;
      this.#view = viewOf(memory);
    }
    this.#keep(memory, this.#scanFrames(this.#view, length), length);
  }

  /** Returns the position at which the complete frames end. */
  #scanFrames(view: DataView, end: number): number {
    let at = 0;
    while (end - at >= HEADER_BYTES) {
      const length = view.getInt32(at);
      if (length < 0 || length > FRAME_BYTES_MAX) {
        throw new FrameError(`a reply of ${length} bytes`);
      }
      if (end - at - HEADER_BYTES < length) break;
      this.#onFrame(view, at + HEADER_BYTES, length);
      at += HEADER_BYTES + length;
    }
    return at;
  }

  /** The chunk's memory is reused, so the rest must be copied. */
  #keep(bytes: Uint8Array, from: number, end: number): void {
    this.#rest = from === end ? NOTHING : Buffer.from(bytes.subarray(from, end));
  }
}
