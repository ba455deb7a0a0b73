/**
 * Encodes each message once, however many links it is sent on.
 *
 * Remembers the last few messages by identity until `clear`, which the port calls at each flush: a
 * proposal that goes to every follower in a turn is packed once and its bytes are shared.
 */
import { assert, type PeerMessage } from '@rookery/protocol';
import { encodePeerMessage } from '@rookery/protocol/peer';

const REMEMBERED_MAX = 8;
const LENGTH_BYTES = 4;

export class FrameCache {
  readonly #frameBytesMax: number;
  readonly #messages: (PeerMessage | null)[] = [];
  readonly #frames: Uint8Array[] = [];
  #next = 0;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  /** The message as a frame with its length; shared, so never to be written to. */
  frameOf(message: PeerMessage): Uint8Array {
    const index = this.#messages.indexOf(message);
    const known = index === -1 ? undefined : this.#frames[index];
    if (known !== undefined) return known;
    const payload = encodePeerMessage(message);
    assert(
      payload.length <= this.#frameBytesMax,
      () => `a ${message.kind} of ${payload.length} bytes fits a frame of ${this.#frameBytesMax}`,
    );
    const frame = framed(payload);
    this.#messages[this.#next] = message;
    this.#frames[this.#next] = frame;
    this.#next = (this.#next + 1) % REMEMBERED_MAX;
    return frame;
  }

  clear(): void {
    this.#messages.length = 0;
    this.#frames.length = 0;
    this.#next = 0;
  }
}

export function framed(payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafeSlow(LENGTH_BYTES + payload.length);
  frame.writeInt32BE(payload.length, 0);
  frame.set(payload, LENGTH_BYTES);
  return frame;
}
