/**
 * A source of a single request, whose reply may have any length, for requests that each connection
 * sends once.
 */
import { copyFrame } from './frames.js';
import { ANY_LENGTH, type RequestSource } from './workloads.js';

export class OneFrameSource implements RequestSource {
  readonly requestBytesMax: number;
  readonly replyBytes = ANY_LENGTH;
  readonly #frame: Buffer;
  #isDone = false;

  constructor(frame: Buffer) {
    this.#frame = frame;
    this.requestBytesMax = frame.length;
  }

  write(target: Buffer, offset: number, xid: number): number {
    if (this.#isDone) return 0;
    this.#isDone = true;
    return copyFrame(this.#frame, { target, offset, xid });
  }
}
