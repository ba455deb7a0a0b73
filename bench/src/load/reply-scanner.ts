/**
 * Cuts a stream of replies into frames and reads their headers in place, without an object each.
 *
 * The generator must be cheaper than any server it measures, so chunks are scanned where they lie;
 * only a frame that spans chunks is copied. A chunk is not kept after `scan`. Frames longer than
 * the limit end the scan with an error: the stream is no stream of replies.
 */
import { FrameError } from '@rookery/protocol';

/**
 * Gets the frame's place without its length: xid at `at`, zxid at +4, error at +12, then the body.
 */
export type OnFrame = (view: DataView, at: number, length: number) => void;

const HEADER_BYTES = 4;
const FRAME_BYTES_MAX = 64 << 20;

export class ReplyScanner {
  readonly #onFrame: OnFrame;
  #rest = Buffer.alloc(0);

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Calls back for every frame that is whole now, in order. Throws FrameError. */
  scan(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const length = view.getInt32(at);
      if (length < 0 || length > FRAME_BYTES_MAX) {
        throw new FrameError(`a reply of ${length} bytes`);
      }
      if (bytes.length - at - HEADER_BYTES < length) break;
      this.#onFrame(view, at + HEADER_BYTES, length);
      at += HEADER_BYTES + length;
    }
    // The chunk's memory is read into again: what is left must be a copy.
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}
