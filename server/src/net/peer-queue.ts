/**
 * The frames that wait to be sent on one link.
 *
 * They keep their order, except that urgent ones come first. The link enforces the bound. Frames
 * are shared between links and never modified.
 */
import { assert } from '@rookery/protocol';

export class PeerQueue {
  readonly #urgent: Uint8Array[] = [];
  readonly #frames: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  push(frame: Uint8Array, isUrgent: boolean): void {
    assert(frame.length > 0, 'a frame has its length at least');
    (isUrgent ? this.#urgent : this.#frames).push(frame);
    this.#bytes += frame.length;
  }

  clear(): void {
    this.#urgent.length = 0;
    this.#frames.length = 0;
    this.#bytes = 0;
  }

  /** Takes urgent and whole frames up to about `bytesMax`, at least one, as one buffer. */
  take(bytesMax: number): Uint8Array {
    assert(this.#bytes > 0, 'something waits');
    const taken = this.#urgent.splice(0);
    let bytes = 0;
    for (const frame of taken) bytes += frame.length;
    let count = 0;
    for (const frame of this.#frames) {
      if (bytes > 0 && bytes + frame.length > bytesMax) break;
      bytes += frame.length;
      taken.push(frame);
      count += 1;
    }
    // Released at once: a frame may be large.
    this.#frames.splice(0, count);
    this.#bytes -= bytes;
    const [first, second] = taken;
    if (first !== undefined && second === undefined) return first;
    return Buffer.concat(taken, bytes);
  }
}
